/**
 * Runs commands for sessions in processes of their own, beside the runner: with the board's address, with the session's
 * identity, and in the board's folder, because an agent writes what is in its worktree, `.git` included.
 *
 * They stay in the session of the runner, whose processes are not taken for the agent's (processes/start/recorder.ts).
 */

import { spawn } from 'node:child_process';

import type { CommandSaid, SessionCommand, SessionCommands } from '../ports/runners.ts';
import { FOR_SESSION } from '../../board/rules/author.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

const { commandMs, outputBytes } = defaultPolicy.asks;

/** Those of an agent's own environment, should this runner have been started from one. */
const NOT_OURS = {
  COPSE_RUNNER_FOLDER: undefined,
  COPSE_ATTEMPT_ID: undefined,
  COPSE_WORKTREE_PATH: undefined,
};

export interface SessionCommandsSettings {
  /** The command line of this installation. */
  readonly program: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function openSessionCommands(settings: SessionCommandsSettings): SessionCommands {
  return { run: (command) => run(settings, command) };
}

function run(
  { program: [file, ...first], environment }: SessionCommandsSettings,
  { argv, input, variables, signal }: SessionCommand,
): Promise<CommandSaid> {
  return new Promise((resolve) => {
    const child = spawn(file, [...first, ...argv], {
      env: {
        ...environment,
        ...NOT_OURS,
        ...variables,
        [FOR_SESSION]: '1',
        COPSE_BACKGROUND: '0',
        NO_COLOR: '1',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      timeout: commandMs,
      killSignal: 'SIGKILL',
    });
    const [stdout, stderr] = [new Collected(), new Collected()];
    child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk)).on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk)).on('error', () => {});
    child.stdin.on('error', () => {}).end(input);
    child.once('error', (error) =>
      resolve({ code: 1, stdout: '', stderr: `copse: The runner could not run this: ${error.message}.\n` }),
    );
    child.once('close', (code) => {
      const notes = [
        ...(code === null ? [`copse: The runner ended this command after ${commandMs / 1_000} s.\n`] : []),
        ...(stdout.isCut ? [`copse: Only the first ${outputBytes} bytes are shown.\n`] : []),
      ];
      resolve({ code: code ?? 1, stdout: stdout.text, stderr: [stderr.text, ...notes].join('') });
    });
  });
}

/** The beginning of what it printed. */
class Collected {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  isCut = false;

  add(chunk: Buffer): void {
    const room = outputBytes - this.#bytes;
    if (chunk.length > room) this.isCut = true;
    if (room <= 0) return;
    this.#chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(chunk.length, room);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
