import type { AttemptLogs, LogName } from '../../agents/ports/logs.ts';
import type { AttemptId, TaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { shellWord } from '../../kernel/shell.ts';
import { shown } from '../../kernel/text.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';
import type { Attempt } from '../../tasks/rules/attempt.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import { machineName } from '../../workspaces/act/shared/elsewhere.ts';
import type { Access } from '../access.ts';
import { OperationFailed, fail } from '../failure.ts';
import { requireTaskId } from '../find.ts';
import { isJobId, requireJob } from '../intake/find.ts';

interface Input {
  /** Or a job. */
  readonly task: string;
  /** The whole output of all attempts. */
  readonly all?: boolean | undefined;
  readonly runner?: boolean | undefined;
  /** From the end; 200 without it. */
  readonly lines?: number | undefined;
  /** The latest without it. */
  readonly attempt?: string | undefined;
  /** Of the log of `attempt`: the byte to read on from. */
  readonly after?: number | undefined;
}

export const USUAL_LINES = 200;

export interface TaskLogFiles {
  readonly task: TaskId;
  readonly attempts: readonly Attempt[];
  /** Those that were asked for and that this machine has. */
  readonly chosen: readonly FoundLog[];
  /** The folder for the logs of the task, also if there are none yet. */
  readonly folder: string;
}

interface FoundLog {
  readonly name: LogName;
  readonly file: string;
  readonly bytes: number;
  /** The first byte that was asked for. */
  readonly start: number;
}

interface ReadLog {
  readonly attempt: AttemptId;
  readonly file: string;
  readonly isWhole: boolean;
  readonly lines: readonly string[];
  /** Only for one attempt that was asked for by its id: where the next page begins. */
  readonly next?: number;
}

interface TaskLogs {
  readonly task: TaskId;
  readonly logs: readonly ReadLog[];
}

export async function act(access: Access, input: Input): Promise<TaskLogs> {
  const { task, attempts, chosen } = await findLogs(access, input);
  const logs = await access.here.logs();
  if (input.attempt === undefined) return { task, logs: readAll(logs, chosen) };
  const isOver = attempts.every(({ id, end }) => id !== chosen[0]?.name.attempt || end !== null);
  return { task, logs: chosen.map((log) => readPage(logs, log, isOver)) };
}

export function view({ task, logs }: TaskLogs) {
  return { task, logs };
}

/** For a caller that reads them piece by piece. `mayBeNone`: it waits for the first output. */
export async function findLogs(
  access: Access,
  input: Input,
  { mayBeNone = false }: { readonly mayBeNone?: boolean } = {},
): Promise<TaskLogFiles> {
  if (input.after !== undefined && input.attempt === undefined)
    fail('invalid', '--after needs --attempt: each attempt has a log of its own.', 'copse logs --help');
  return access.workspaces(async (context) => {
    const { board, home } = context;
    const task = isJobId(input.task)
      ? (await requireJob(board, input.task)).id
      : await requireTaskId(board, input.task);
    const foreign = await refuseForeignTask(context, task);
    if (foreign) throw new OperationFailed(foreign.refusal);
    const attempts = await board.list('attempt', { task });
    const logs = await access.here.logs();
    const chosen = choose(logs, task, attempts, input);
    if (chosen.length === 0 && !mayBeNone) await failNone(context, logs, task, attempts);
    return { task, attempts, chosen, folder: `${home}/.copse/logs/${task}` };
  });
}

function choose(
  logs: AttemptLogs,
  task: TaskId,
  attempts: readonly Attempt[],
  { all = false, runner = false, lines = USUAL_LINES, attempt, after }: Input,
): readonly FoundLog[] {
  const wanted = attempt === undefined ? attempts : [requireAttempt(task, attempts, attempt)];
  const found = wanted.flatMap(({ id }) => {
    const name = { task, attempt: id, isOfRunner: runner };
    const log = logs.find(name);
    return log === undefined ? [] : [{ name, ...log }];
  });
  return (all ? found : found.slice(-1)).map(({ name, file, bytes }) => {
    const start = after ?? (all ? 0 : startOf(logs, { name, bytes }, lines));
    return { name, file, bytes, start };
  });
}

function requireAttempt(task: TaskId, attempts: readonly Attempt[], text: string): Attempt {
  return (
    attempts.find(({ id }) => id === text) ??
    fail(
      'not_found',
      `${task} has no attempt ${JSON.stringify(shown(text.slice(0, 60)))}.`,
      `copse show ${task}`,
    )
  );
}

async function failNone(
  { board, node }: WorkspaceContext,
  logs: AttemptLogs,
  task: TaskId,
  attempts: readonly Attempt[],
): Promise<never> {
  const last = attempts.at(-1);
  if (last !== undefined && last.node !== node) {
    const machine = await machineName(board, last.node);
    fail(
      'not_found',
      `The output of ${task} is on ${machine}.`,
      `copse logs ${task} # there`,
      `copse diff ${task}`,
    );
  }
  const folder = logs.folderOf(task);
  const hint = folder === undefined ? [] : [`ls ${shellWord(folder)}`];
  return fail('not_found', `There is no output of ${task} yet.`, `copse why ${task}`, ...hint);
}

/** The byte at which the last `lines` lines begin. */
function startOf(
  logs: AttemptLogs,
  { name, bytes }: Pick<FoundLog, 'name' | 'bytes'>,
  lines: number,
): number {
  if (lines === 0) return bytes;
  const from = bytes - Math.min(bytes, defaultPolicy.agentOutput.tailBytes);
  const tail = logs.read(name, from, bytes - from);
  let at = tail.length - 1;
  for (let count = 0; at > 0; at -= 1) {
    if (tail[at - 1] === LINE_FEED) count += 1;
    if (count === lines) break;
  }
  return from + Math.max(0, at);
}

const LINE_FEED = 0x0a;

/** The newest in full before older ones: a task of many attempts would fill the memory. */
function readAll(logs: AttemptLogs, chosen: readonly FoundLog[]): readonly ReadLog[] {
  let room: number = defaultPolicy.agentOutput.documentBytes;
  return chosen
    .toReversed()
    .map(({ name, file, bytes, start: wanted }) => {
      const start = Math.max(wanted, bytes - room);
      room -= bytes - start;
      const lines = linesOf(logs.read(name, start, bytes - start));
      return { attempt: name.attempt, file, isWhole: start === 0, lines };
    })
    .toReversed();
}

/** Of an agent that still writes, only whole lines: the rest of a line comes with the next page. */
function readPage(logs: AttemptLogs, { name, file, bytes, start }: FoundLog, isOver: boolean): ReadLog {
  const { pageBytes } = defaultPolicy.agentOutput;
  const content = logs.read(name, start, pageBytes);
  const isEnd = isOver && start + content.length >= bytes;
  const lastLine = content.lastIndexOf(LINE_FEED) + 1;
  const isOneLine = lastLine === 0 && content.length === pageBytes;
  const end = isEnd || isOneLine ? content.length : lastLine;
  const isWhole = start === 0 && end >= bytes;
  const lines = linesOf(content.subarray(0, end));
  return { attempt: name.attempt, file, isWhole, lines, next: start + end };
}

function linesOf(content: Uint8Array): readonly string[] {
  const lines = DECODER.decode(content).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });
