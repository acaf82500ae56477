import { closeSync, existsSync, openSync, readSync, readdirSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';

import type { Board } from '../../../board/port.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import type { SessionId, TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { act, findLogs, view } from '../../../operations/agents/logs.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';

interface Options {
  readonly follow?: boolean;
  readonly runner?: boolean;
  readonly lines?: string;
  readonly all?: boolean;
  readonly attempt?: string;
  readonly after?: string;
  readonly json?: boolean;
}

const LOOK_EVERY_MS = 500;

/** The output of an agent: of its latest attempt, or of all. */
export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await showLog(cli, words[0] ?? '', options);
}

export async function showLog(cli: Cli, word: string, options: Options): Promise<void> {
  const { follow: isFollowed = false, runner, all, attempt } = options;
  const lines = options.lines === undefined ? undefined : requireCount('--lines', options.lines, 6);
  const after = options.after === undefined ? undefined : requireCount('--after', options.after, 15);
  const input = { task: word, runner, all, attempt, lines, after };
  await withAccess(cli, async (access) => {
    if (options.json && !isFollowed) return cli.output.json(view(await act(access, input)));
    const { task: id, attempts, chosen, folder } = await findLogs(access, input, { mayBeNone: isFollowed });
    if (options.json) fail('invalid', 'With --json, logs does not follow.', `copse logs ${id} --follow`);
    for (const { file } of chosen.slice(0, -1)) await print(cli, file, 0);
    const last = chosen.at(-1);
    const at = last === undefined ? 0 : await print(cli, last.file, last.start);
    const isEmpty = chosen.length > 0 && chosen.every(({ bytes }) => bytes === 0);
    if (isEmpty && !runner) {
      const agent = await access.workspaces(({ board }) => ofAgent(board, attempts.at(-1)?.session));
      cli.output.note(`No output${attempts.at(-1)?.end == null ? ' yet' : ''}${agent}.`);
    }
    if (isFollowed && last === undefined)
      cli.output.note(`There is no output of ${id} yet; waiting for it (Ctrl+C ends).`);
    const suffix = runner ? '.runner.log' : '.log';
    if (!isFollowed) return;
    const isOver = () => access.workspaces(({ board }) => hasEnded(board, id));
    const from = { file: last?.file ?? path.join(folder, `latest${suffix}`), at };
    const end = await follow(cli, from, { folder, suffix, isOver });
    if (end === 'over') cli.output.note(`The agent of ${id} has ended.`);
  });
}

/** Whether its last attempt is over, and none follows without a person. */
async function hasEnded(board: Board, id: TaskId): Promise<boolean> {
  const status = (await board.get('task', id))?.state.status;
  if (status === 'pending' || status === 'ready' || status === 'in_progress') return false;
  const last = (await board.list('attempt', { task: id })).at(-1);
  return last !== undefined && last.end !== null;
}

async function ofAgent(board: Board, session: SessionId | undefined): Promise<string> {
  const agent = session && (await board.get('session', session))?.agent;
  return agent ? ` (agent ${shown(agent)})` : '';
}

/** Prints from an offset to the end, and returns the end. */
async function print(cli: Cli, file: string, from: number): Promise<number> {
  const handle = openSync(file, 'r');
  const chunk = Buffer.alloc(64 * 1024);
  const decoder = new StringDecoder('utf8');
  let at = from;
  try {
    for (;;) {
      const read = readSync(handle, chunk, 0, chunk.length, at);
      if (read === 0) return at;
      const bytes = Buffer.from(chunk.subarray(0, read));
      await cli.output.raw(cli.output.isTerminal ? harmless(decoder.write(bytes)) : bytes);
      at += read;
    }
  } finally {
    closeSync(handle);
  }
}

/** Keeps colours; shows every other control sequence instead of sending it to the terminal. */
function harmless(text: string): string {
  return text
    .split(/(\u001b\[[0-9;]*m|\r?\n|\r)/)
    .map((part, index) => (index % 2 === 1 ? part : shown(part)))
    .join('');
}

interface Followed {
  readonly folder: string;
  readonly suffix: string;
  readonly isOver: () => Promise<boolean>;
}

/** Until Ctrl+C or the end of its agent, also across further attempts of the task. */
async function follow(
  cli: Cli,
  from: { readonly file: string; readonly at: number },
  { folder, suffix, isOver }: Followed,
): Promise<'stopped' | 'over'> {
  let { file, at } = from;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  let wake: () => void = () => {};
  const watcher = existsSync(folder) ? watch(folder, () => wake()) : undefined;
  let isLast = false;
  while (!stop.signal.aborted) {
    // Before the look: what it printed last is there when its end is on the board.
    isLast = await isOver();
    const newest = latestIn(folder, suffix);
    if (newest !== undefined && newest !== file && existsSync(file)) at = await print(cli, file, at);
    if (newest !== undefined && newest !== file) [file, at] = [newest, 0];
    if (existsSync(file)) at = await print(cli, file, at);
    if (isLast) break;
    await new Promise<void>((resolve) => {
      wake = resolve;
      const timer = setTimeout(resolve, LOOK_EVERY_MS);
      stop.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
  watcher?.close();
  return isLast ? 'over' : 'stopped';
}

function latestIn(folder: string, suffix: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const wanted = suffix === '.log' ? /^at-[a-z0-9]+\.log$/ : /^at-[a-z0-9]+\.runner\.log$/;
  const files = readdirSync(folder)
    .filter((name) => wanted.test(name))
    .map((name) => path.join(folder, name));
  return files.toSorted((one, other) => statSync(one).birthtimeMs - statSync(other).birthtimeMs).at(-1);
}

function requireCount(option: string, text: string, digits: number): number {
  if (/^\d+$/.test(text) && text.length <= digits) return Number(text);
  return fail('invalid', `${option} must be a number, not "${text}".`, 'copse logs --help');
}
