/**
 * The verdict about a change, from the way in which a check ended.
 *
 *   exit code 0                                             green
 *   another exit code                                       red
 *   a signal that the program raised: it crashed            red
 *   a signal that another process than Copse sent           infrastructure: out of memory, a shutdown, a person
 *   the shell's exit code for such a signal                 infrastructure
 *   a program that copse.yml names is not on this machine   infrastructure
 *   a program or folder that the tree lacks                 red
 *   the disk is full, or output could not be written        infrastructure
 *   the time limit passed                                   timeout
 *
 * A change is not blamed for a problem that only a person can solve. A failure that the change can cause is never
 * infrastructure, or Copse would retry it for ever.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

import type { CheckCommand, CheckVerdict } from '../ports/checks.ts';
import type { CheckFault } from '../rules/check-fault.ts';
import type { StepEnding } from '../../processes/ports/programs.ts';
import { isWithin } from '../../kernel/system/within.ts';

interface Where {
  readonly worktree: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Judgement {
  readonly verdict: CheckVerdict;
  /** Null when it passed. */
  readonly fault: CheckFault | null;
}

/** `text` follows the name of the command. */
export function infrastructure(text: string): Judgement {
  return { verdict: 'infrastructure', fault: { kind: 'other', text } };
}

export function judge(
  ending: StepEnding,
  { command, timeoutMs }: Pick<CheckCommand, 'command' | 'timeoutMs'>,
  where: Where,
): Judgement {
  if (ending.kind === 'timeout')
    return { verdict: 'timeout', fault: { kind: 'timeout', afterMs: timeoutMs } };
  if (ending.kind === 'signal') return bySignal(ending.signal);
  if (ending.kind === 'not_started') return notStarted(ending, command, where);
  return byCode(ending.code, command, where);
}

const SENT: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']);

function bySignal(signal: NodeJS.Signals): Judgement {
  if (!SENT.has(signal)) return { verdict: 'red', fault: { kind: 'crash', signal } };
  const perhaps = signal === 'SIGKILL' ? '; the machine may have run out of memory' : '';
  return infrastructure(`was killed by ${signal}, which Copse did not send${perhaps}`);
}

function byCode(code: number, command: CheckCommand['command'], where: Where): Judgement {
  if (code === 0) return { verdict: 'green', fault: null };
  if (typeof command === 'string') {
    const [signal] =
      Object.entries(constants.signals).find(([name, number]) => SENT.has(name) && code === 128 + number) ??
      [];
    if (signal !== undefined) return bySignal(signal as NodeJS.Signals);
    const missing = code === 126 || code === 127 ? missingProgram(command, where) : undefined;
    if (missing !== undefined) return notHere(missing);
  }
  return { verdict: 'red', fault: { kind: 'exit', code } };
}

function notHere(program: string): Judgement {
  return infrastructure(`needs ${program}, which is not on this machine`);
}

function notStarted(
  { code, message }: Extract<StepEnding, { kind: 'not_started' }>,
  command: CheckCommand['command'],
  { worktree, folder }: Where,
): Judgement {
  const program = typeof command === 'string' ? 'sh' : (command[0] ?? '');
  const isOfTree = program.includes('/') && isWithin(worktree, path.resolve(folder, program));
  if (isOfTree && code === 'ENOENT') return { verdict: 'red', fault: { kind: 'missing', program } };
  if (isOfTree && code === 'EACCES') return { verdict: 'red', fault: { kind: 'not_executable', program } };
  if (code === 'ENOENT' || code === 'EACCES') return notHere(program);
  return infrastructure(`could not start: ${message}`);
}

/**
 * The first program that the line names and this machine lacks. Programs that a script of the tree calls do not count, nor do
 * words that may be something else than the name of a program.
 */
function missingProgram(line: string, where: Where): string | undefined {
  const commands = line.replaceAll(/'[^']*'|"[^"]*"/g, '""').split(/&&|\|\||[;|\n]/);
  const names = commands.map((text) => /^\s*(?:\w+=\S*\s+)*([A-Za-z_./][\w./+-]*)(?=\s|$)/.exec(text)?.[1]);
  return names.find((name) => name !== undefined && isMissing(name, where));
}

function isMissing(name: string, { worktree, folder, environment }: Where): boolean {
  if (name.includes('/')) {
    const file = path.resolve(folder, name);
    return !isWithin(worktree, file) && !existsSync(file);
  }
  const asked = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], {
    cwd: folder,
    env: environment,
    stdio: 'ignore',
  });
  return asked.status !== null && asked.status !== 0;
}
