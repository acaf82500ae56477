import { closeSync, existsSync, openSync, readSync, readdirSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';

import type { Board } from '../../../board/port.ts';
import type { SessionId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { machineName } from '../../../workspaces/act/shared/elsewhere.ts';
import { isJobId, requireJob } from '../../../operations/intake/find.ts';
import { requireTaskId } from '../../../operations/find.ts';
import { withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly follow?: boolean;
  readonly runner?: boolean;
  readonly lines?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

const SHOWN_LINES = 200;
const LOOK_EVERY_MS = 500;

/** The output of an agent: of its latest attempt, or of all. */
export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await showLog(cli, words[0] ?? '', options);
}

export async function showLog(cli: Cli, word: string, options: Options): Promise<void> {
  await withWorkspaces(cli, async ({ board, home, node }) => {
    const id = isJobId(word) ? (await requireJob(board, word)).id : await requireTaskId(board, word);
    const folder = path.join(home, '.copse', 'logs', id);
    const suffix = options.runner ? '.runner.log' : '.log';
    const attempts = await board.list('attempt', { task: id });
    const files = attempts
      .map((attempt) => path.join(folder, `${attempt.id}${suffix}`))
      .filter((file) => existsSync(file));
    const chosen = options.all ? files : files.slice(-1);
    if (options.json && options.follow)
      fail('invalid', 'With --json, logs does not follow.', `copse logs ${id} --follow`);
    if (chosen.length === 0 && !options.follow) {
      const others = existsSync(folder) ? readdirSync(folder) : [];
      const hint = others.length > 0 ? [`read ${folder}`] : [];
      const last = attempts.at(-1);
      if (last !== undefined && last.node !== node) {
        const machine = await machineName(board, last.node);
        fail(
          'not_found',
          `The output of ${id} is on ${machine}.`,
          `copse logs ${id} there`,
          `copse diff ${id}`,
        );
      }
      fail('not_found', `There is no output of ${id} yet.`, `copse why ${id}`, ...hint);
    }
    const most = options.lines === undefined ? SHOWN_LINES : requireLines(options.lines);
    if (options.json) {
      const start = (file: string) => (options.all ? 0 : startOf(file, most));
      cli.output.json({ task: id, logs: chosen.map((file) => logView(file, start(file))) });
      return;
    }
    for (const file of chosen.slice(0, -1)) await print(cli, file, 0);
    const last = chosen.at(-1);
    const at = last === undefined ? 0 : await print(cli, last, options.all ? 0 : startOf(last, most));
    const isEmpty = chosen.length > 0 && chosen.every((file) => statSync(file).size === 0);
    if (isEmpty && !options.runner)
      cli.output.note(
        `No output${attempts.at(-1)?.end == null ? ' yet' : ''}${await ofAgent(board, attempts.at(-1)?.session)}.`,
      );
    if (options.follow && last === undefined)
      cli.output.note(`There is no output of ${id} yet; waiting for it (Ctrl+C ends).`);
    if (options.follow) await follow(cli, last ?? path.join(folder, `latest${suffix}`), at, folder, suffix);
  });
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

/** More of a file is not kept in memory. */
const MOST_BYTES = 16 * 1024 * 1024;

function logView(file: string, from: number) {
  const { size } = statSync(file);
  const start = Math.max(from, size - MOST_BYTES);
  const lines = readText(file, start, size - start).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const [attempt = ''] = path.basename(file).split('.');
  return { attempt, file, isWhole: start === 0, lines };
}

/** Keeps colours; shows every other control sequence instead of sending it to the terminal. */
function harmless(text: string): string {
  return text
    .split(/(\u001b\[[0-9;]*m|\r?\n|\r)/)
    .map((part, index) => (index % 2 === 1 ? part : shown(part)))
    .join('');
}

/** The offset at which the last `lines` lines begin. */
function startOf(file: string, lines: number): number {
  const { size } = statSync(file);
  if (lines === 0) return size;
  const length = Math.min(size, 1024 * 1024);
  const text = readBytes(file, size - length, length);
  let at = text.length - 1;
  for (let count = 0; at > 0; at -= 1) {
    if (text[at - 1] === 0x0a) count += 1;
    if (count === lines) break;
  }
  return size - length + Math.max(0, at);
}

function readText(file: string, from: number, length: number): string {
  return readBytes(file, from, length).toString('utf8');
}

function readBytes(file: string, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const handle = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(handle, bytes, 0, length, from));
  } finally {
    closeSync(handle);
  }
}

/** Until Ctrl+C, also across further attempts of the task. */
async function follow(cli: Cli, first: string, from: number, folder: string, suffix: string): Promise<void> {
  let file = first;
  let at = from;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  let wake: () => void = () => {};
  const watcher = existsSync(folder) ? watch(folder, () => wake()) : undefined;
  while (!stop.signal.aborted) {
    const newest = latestIn(folder, suffix);
    if (newest !== undefined && newest !== file && existsSync(file)) at = await print(cli, file, at);
    if (newest !== undefined && newest !== file) [file, at] = [newest, 0];
    if (existsSync(file)) at = await print(cli, file, at);
    await new Promise<void>((resolve) => {
      wake = resolve;
      const timer = setTimeout(resolve, LOOK_EVERY_MS);
      stop.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
  watcher?.close();
}

function latestIn(folder: string, suffix: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const wanted = suffix === '.log' ? /^at-[a-z0-9]+\.log$/ : /^at-[a-z0-9]+\.runner\.log$/;
  const files = readdirSync(folder)
    .filter((name) => wanted.test(name))
    .map((name) => path.join(folder, name));
  return files.toSorted((one, other) => statSync(one).birthtimeMs - statSync(other).birthtimeMs).at(-1);
}

function requireLines(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  return fail('invalid', `--lines must be a number, not "${text}".`, 'copse logs --help');
}
