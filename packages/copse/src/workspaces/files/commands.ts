/**
 * Runs command lines that a person wrote, one after another until one fails. The output is kept in a file. Processes that a
 * successful command leaves running (a database, for example) stay, unless `leavesNothing`; those of a command that timed
 * out are ended with it.
 */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, closeSync, openSync, statSync, writeSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { constants as system } from 'node:os';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { REPOSITORY_VARIABLES } from '../rules/environment.ts';
import type { AttemptId } from '../../kernel/ids.ts';
import type { CommandLines, CommandsOutcome } from '../ports/furnishing.ts';
import type { Sandbox } from '../../processes/ports/programs.ts';
import { endMarked } from '../../processes/end.ts';

export interface CommandsRequest extends CommandLines {
  /** `env` is all of it: nothing of this process's environment is added. */
  readonly isWhole?: boolean;
  /** Where they start, if not in `folder`, which a sandbox opens. */
  readonly startIn?: string;
  /** The sandbox they run in, if any. */
  readonly confined?: { readonly sandbox: Sandbox; readonly attempt: AttemptId };
}

const GRACE_MS = defaultPolicy.commands.endGraceMs;
const TAIL_LINES = defaultPolicy.commands.tailLines;
const TAIL_BYTES = defaultPolicy.commands.tailBytes;
const MARK = 'COPSE_COMMAND';

export async function runCommands(request: CommandsRequest): Promise<CommandsOutcome> {
  if (request.commands.length > 0) await mkdir(request.logFolder, { recursive: true, mode: 0o700 });
  for (const [index, command] of request.commands.entries()) {
    const log = path.join(request.logFolder, `${request.name}-${index + 1}.log`);
    // The log is appended to; the tail is that of this run.
    const from = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const ending = await runOne(command, request, log);
    if (ending.because === 'exit' && ending.code === 0) continue;
    return { kind: 'failed', command, ...ending, tail: await tailOf(log, from), log };
  }
  return { kind: 'done', ran: request.commands.length };
}

interface Ending {
  readonly because: 'exit' | 'timeout' | 'not_started';
  readonly code: number | null;
}

async function runOne(command: string, request: CommandsRequest, log: string): Promise<Ending> {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  const output = openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  const id = randomUUID();
  try {
    writeSync(output, `$ ${command}\n`);
    const program = programOf(command, request, id);
    return await new Promise<Ending>((resolve, reject) => {
      const [file, ...args] = program.argv;
      const child = spawn(file, args, {
        cwd: program.folder,
        env: program.environment,
        stdio: ['ignore', output, output],
        detached: true,
      });
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        void endAll(child.pid, id).then(() => resolve({ because: 'timeout', code: null }), reject);
      }, request.timeoutMs);
      child.once('error', (error) => {
        clearTimeout(timer);
        writeSync(output, `${error.message}\n`);
        resolve({ because: 'not_started', code: null });
      });
      child.once('exit', (code, signal) => {
        if (isLate) return;
        clearTimeout(timer);
        const ended = { because: 'exit', code: code ?? (signal && 128 + system.signals[signal]) } as const;
        if (!request.leavesNothing) return resolve(ended);
        void endAll(child.pid, id).then(() => resolve(ended), reject);
      });
    });
  } finally {
    closeSync(output);
  }
}

async function endAll(leader: number | undefined, id: string): Promise<void> {
  if (leader !== undefined) await endMarked(`${MARK}=${id}`, [], { graceMs: GRACE_MS, leader });
}

function programOf(command: string, request: CommandsRequest, id: string) {
  const { folder, startIn, env, confined, isWhole = false } = request;
  const environment = { ...(isWhole ? {} : inherited()), ...env, [MARK]: id };
  const argv: readonly [string, ...string[]] =
    startIn === undefined ? ['sh', '-c', command] : ['sh', '-c', START_IN, 'sh', startIn, command];
  const free = { argv, folder, environment };
  return confined === undefined ? free : confined.sandbox.wrap({ ...free, attempt: confined.attempt });
}

const START_IN = 'cd -- "$1" && exec sh -c "$2"';

/** Without Copse's own, the board's address among them, and without those by which git works on another repository. */
function inherited(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !REPOSITORY_VARIABLES.test(entry[0]) && !entry[0].startsWith('COPSE_'),
  );
  return Object.fromEntries(kept);
}

async function tailOf(log: string, from: number): Promise<readonly string[]> {
  const file = await open(log, 'r');
  try {
    const { size } = await file.stat();
    const length = Math.min(size - from, TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-TAIL_LINES);
  } finally {
    await file.close();
  }
}
