/**
 * Runs command lines that a person wrote, one after another until one fails. The output is kept in a file. Processes that a
 * successful command leaves running (a database, for example) stay, unless `leavesNothing`: those of set-up end with the attempt
 * (agents/run/attempt.ts). Those of a command that timed out are ended with it.
 */

import { randomUUID } from 'node:crypto';
import { constants, closeSync, openSync, statSync, writeSync } from 'node:fs';
import { appendFile, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { constants as system } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../kernel/policy.ts';
import { REPOSITORY_VARIABLES } from '../rules/environment.ts';
import type { AttemptId } from '../../kernel/ids.ts';
import type { CommandLines, CommandsOutcome } from '../ports/furnishing.ts';
import { NotConfined, type Sandbox } from '../../processes/ports/programs.ts';
import { processList } from '../../kernel/process.ts';
import { closeGroup, openGroup } from '../../processes/cgroup.ts';
import { endMarked } from '../../processes/end.ts';
import { LONGEST_MS, type Watched, startWatched } from '../../processes/start/watched.ts';

export interface CommandsRequest extends CommandLines {
  /** `env` is all of it: nothing of this process's environment is added. */
  readonly isWhole?: boolean;
  /** Where they start in a sandbox, if not in `folder`, which it opens. */
  readonly startIn?: string;
  /** The sandbox they run in, if any. */
  readonly confined?: { readonly sandbox: Sandbox; readonly attempt: AttemptId };
  /** The control group of the attempt that they belong to. */
  readonly group?: string | undefined;
}

const GRACE_MS = defaultPolicy.commands.endGraceMs;
const TAIL_LINES = defaultPolicy.commands.tailLines;
const TAIL_BYTES = defaultPolicy.commands.tailBytes;
const MARK = 'COPSE_COMMAND';

export async function runCommands(request: CommandsRequest): Promise<CommandsOutcome> {
  if (request.commands.length > 0) await mkdir(request.logFolder, { recursive: true, mode: 0o700 });
  const input = await writeInput(request);
  for (const [index, command] of request.commands.entries()) {
    const log = path.join(request.logFolder, `${request.name}-${index + 1}.log`);
    // The log is appended to; the tail is that of this run.
    const from = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const ending = await runOne(command, request, { log, input });
    if (ending.because === 'exit' && ending.code === 0) continue;
    return { kind: 'failed', command, ...ending, tail: await tailOf(log, from), log };
  }
  return { kind: 'done', ran: request.commands.length };
}

/** A file, and no pipe: a command that reads none of it is not disturbed. Null: none is given. */
async function writeInput({ input, name, logFolder, commands }: CommandsRequest): Promise<string | null> {
  if (input === undefined || commands.length === 0) return null;
  const file = path.join(logFolder, `${name}.json`);
  await rm(file, { force: true });
  await writeFile(file, input, { flag: 'wx', mode: 0o600 });
  return file;
}

/** As `runCommands`; a sandbox that is not available fails the first command, with the reason in its log. */
export async function runOrFail(request: CommandsRequest): Promise<CommandsOutcome> {
  try {
    return await runCommands(request);
  } catch (error) {
    if (!(error instanceof NotConfined)) throw error;
    return notStarted(request, error.message);
  }
}

export async function notStarted(
  { name, commands, logFolder }: Pick<CommandsRequest, 'commands' | 'logFolder' | 'name'>,
  why: string,
): Promise<Extract<CommandsOutcome, { kind: 'failed' }>> {
  const log = path.join(logFolder, `${name}-1.log`);
  await mkdir(logFolder, { recursive: true, mode: 0o700 });
  await appendFile(log, `${why}\n`);
  const command = commands[0] ?? '';
  return { kind: 'failed', command, because: 'not_started', code: null, tail: [why], log };
}

interface Ending {
  readonly because: 'exit' | 'timeout' | 'not_started';
  readonly code: number | null;
}

async function runOne(
  command: string,
  request: CommandsRequest,
  { log, input: file }: { readonly log: string; readonly input: string | null },
): Promise<Ending> {
  const { O_APPEND, O_CREAT, O_WRONLY, O_RDONLY, O_NOFOLLOW } = constants;
  const output = openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  const input = file === null ? 'ignore' : openSync(file, O_RDONLY | O_NOFOLLOW);
  const id = randomUUID();
  try {
    writeSync(output, `$ ${command}\n`);
    const program = programOf(command, request, id);
    // In a group that is not its own, what it leaves running is ended with the rest of the group.
    const own = request.leavesNothing === true ? openGroup(`command-${id}`) : undefined;
    const group = own ?? request.group;
    const watched = startWatched({ ...program, stdio: [input, output, output], group });
    const endAll = async () => {
      const said = await endOf(watched, { id, group: own });
      if (said !== null) writeSync(output, `${said}\n`);
    };
    const ended = await endingOf(watched, request.timeoutMs);
    if (ended.because === 'not_started') writeSync(output, `${ended.message}\n`);
    // A reaper that was killed early could not tell that the command runs.
    if (ended.because !== 'exit' || request.leavesNothing) await endAll();
    if (own !== undefined) await closeGroup(own);
    return { because: ended.because, code: ended.code };
  } finally {
    closeSync(output);
    if (input !== 'ignore') closeSync(input);
  }
}

async function endingOf(
  { started, ended }: Watched,
  timeoutMs: number,
): Promise<Ending & { readonly message?: string }> {
  try {
    await started;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { because: 'not_started', code: null, message };
  }
  const isOver = new AbortController();
  const late = sleep(
    Math.min(timeoutMs, LONGEST_MS),
    { kind: 'timeout' as const },
    { signal: isOver.signal },
  );
  late.catch(() => {});
  const end = await Promise.race([ended, late]);
  isOver.abort();
  if (end.kind === 'timeout') return { because: 'timeout', code: null };
  if (end.kind === 'exited') return { because: 'exit', code: end.code };
  const signal = end.kind === 'signalled' ? (end.signal as NodeJS.Signals) : 'SIGKILL';
  return { because: 'exit', code: 128 + system.signals[signal] };
}

/** Ends all that it started. A sentence about what cannot be ended. */
async function endOf(
  { child: { pid }, first }: Watched,
  { id, group }: { readonly id: string; readonly group: string | undefined },
): Promise<string | null> {
  if (pid === undefined) return null;
  const known = { graceMs: GRACE_MS, leader: pid, group };
  const { remaining } = await endMarked(`${MARK}=${id}`, first === null ? [] : [first], known);
  return remaining.length === 0 ? null : `copse: Still running, cannot be ended: ${processList(remaining)}.`;
}

function programOf(command: string, request: CommandsRequest, id: string) {
  const { folder, startIn, env, confined, isWhole = false } = request;
  const environment = { ...(isWhole ? {} : inherited()), ...env, [MARK]: id };
  const argv: readonly [string, ...string[]] =
    startIn === undefined ? ['sh', '-c', command] : ['/bin/sh', '-c', START_IN, 'sh', startIn, command];
  const free = { argv, folder, environment };
  return confined === undefined ? free : confined.sandbox.wrap({ ...free, attempt: confined.attempt });
}

/** It begins in the worktree, in which an agent may have put a program that is called `sh`. */
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
