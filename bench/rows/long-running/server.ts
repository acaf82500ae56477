/** `copse serve`: how soon it answers, what open pages cost, and how soon they see an event. */

import { setTimeout as sleep } from 'node:timers/promises';

import { WebSocket } from 'ws';

import type { Board } from '../../../packages/copse/src/board/port.ts';
import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { contextOf } from '../../boards.ts';
import { bareNode, filledRepository, run } from '../../commands.ts';
import { coreShareOf, megabytesOf } from '../../processes.ts';
import { type Bench, type Result, type Row, inMs, median, quantile } from '../../row.ts';
import { type Serving, serve } from '../../serving.ts';

const TASKS = 1_000;
const PAGES = 50;
const EVENTS_PER_SECOND = 100;
const MISSED = 5_000;
const GOALS = {
  start: 6,
  idlePercent: 1,
  idleMegabytes: 120,
  percent: 30,
  megabytes: 150,
  p95Ms: 150,
} as const;

export const server: Row = {
  name: 'server',
  timeoutMs: 300_000,
  async measure(bench) {
    const repository = await filledRepository(bench, { ready: TASKS, done: 0 });
    return [await measureStart(bench, repository), ...(await measurePages(bench, repository))];
  },
};

async function measureStart(bench: Bench, repository: string): Promise<Result> {
  const [node, started]: [number[], number[]] = [[], []];
  for (let turn = -2; turn < (bench.isQuick ? 10 : 30); turn += 1) {
    const nodeBeganMs = performance.now();
    run(bareNode, repository);
    const beganMs = performance.now();
    const serving = await serve(bench, repository);
    const startedMs = performance.now();
    await serving.stop();
    if (turn < 0) continue;
    node.push(beganMs - nodeBeganMs);
    started.push(startedMs - beganMs);
  }
  return {
    what: `copse serve, until it listens, ${TASKS} tasks`,
    measured: inMs(median(started)),
    against: `node -e 0: ${inMs(median(node))}`,
    figure: median(started) / median(node),
    goal: { atMost: GOALS.start, unit: '×' },
    limit: null,
  };
}

/** A page that is open: it keeps the times at which it saw events, by number. */
interface Page {
  readonly seenMs: Map<number, number>;
  readonly socket: WebSocket;
}

async function openPage({ url, authorization }: Serving, after: number): Promise<Page> {
  const got = await fetch(`${url}/api/v1/ticket`, { method: 'POST', headers: { authorization } });
  const { ticket } = (await got.json()) as { ticket: string };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream?ticket=${ticket}&after=${after}`);
  const seenMs = new Map<number, number>();
  socket.on('message', (data: Buffer) => {
    const [, number] = /"cursor":"\d+:(\d+)"/.exec(data.toString()) ?? [];
    if (number !== undefined) seenMs.set(Number(number), performance.now());
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return { socket, seenMs };
}

async function measurePages(bench: Bench, repository: string): Promise<readonly Result[]> {
  const serving = await serve(bench, repository);
  const { board } = await openContext({ cwd: repository, env: process.env });
  const begin = await board.lastEvent();
  const pages = await Promise.all(Array.from({ length: PAGES }, () => openPage(serving, begin)));
  const pid = serving.child.pid ?? 0;
  await sleep(3_000);
  const idlePercent = await coreShareOf(pid, () => sleep(bench.isQuick ? 5_000 : 20_000));
  const idleMegabytes = megabytesOf(pid);

  const writtenMs = new Map<number, number>();
  const percent = await coreShareOf(pid, () => write(board, writtenMs, bench.isQuick ? 5 : 20));
  const last = await board.lastEvent();
  while (pages.some(({ seenMs }) => !seenMs.has(last))) await sleep(5);
  const megabytes = megabytesOf(pid);
  const latenciesMs = pages.flatMap(({ seenMs }) =>
    [...writtenMs].map(([number, ms]) => (seenMs.get(number) ?? Number.POSITIVE_INFINITY) - ms),
  );
  for (const { socket } of pages) socket.terminate();
  const resumedMs = await resume(serving, board);
  await board.close();
  await serving.stop();

  const p95 = quantile(latenciesMs, 0.95);
  const beside = { against: `${PAGES} pages`, limit: null };
  return [
    {
      ...beside,
      what: 'copse serve, processor while nothing happens',
      measured: `${idlePercent.toFixed(2)} % of a core`,
      figure: idlePercent,
      goal: { atMost: GOALS.idlePercent, unit: '%' },
    },
    {
      ...beside,
      what: 'copse serve, memory while nothing happens',
      measured: `${idleMegabytes.toFixed(1)} MB`,
      figure: idleMegabytes,
      goal: { atMost: GOALS.idleMegabytes, unit: 'MB' },
    },
    {
      ...beside,
      what: `copse serve, processor at ${EVENTS_PER_SECOND} events a second`,
      measured: `${percent.toFixed(1)} % of a core`,
      figure: percent,
      goal: { atMost: GOALS.percent, unit: '%' },
    },
    {
      ...beside,
      what: `copse serve, memory at ${EVENTS_PER_SECOND} events a second`,
      measured: `${megabytes.toFixed(1)} MB`,
      figure: megabytes,
      goal: { atMost: GOALS.megabytes, unit: 'MB' },
    },
    {
      ...beside,
      what: 'event on the board to a page, p95',
      measured: `${inMs(median(latenciesMs))}, p95 ${inMs(p95)}`,
      figure: p95,
      goal: { atMost: GOALS.p95Ms, unit: 'ms' },
    },
    {
      what: `a page that comes back to ${MISSED} missed events`,
      measured: inMs(resumedMs),
      against: '',
      figure: resumedMs,
      goal: { atMost: 1_000, unit: 'ms' },
      limit: null,
    },
  ];
}

async function write(board: Board, writtenMs: Map<number, number>, seconds: number): Promise<void> {
  const context = contextOf(board);
  const beganMs = performance.now();
  for (let event = 0; event < seconds * EVENTS_PER_SECOND; event += 1) {
    const dueMs = beganMs + (event * 1_000) / EVENTS_PER_SECOND;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    await addTask(context, { title: `Task ${event}` });
    writtenMs.set(await board.lastEvent(), performance.now());
  }
}

/** The oldest event is so many before the last one. */
async function resume(serving: Serving, board: Board): Promise<number> {
  const context = contextOf(board);
  while ((await board.lastEvent()) < MISSED) await addTask(context, { title: 'One more' });
  const last = await board.lastEvent();
  const beganMs = performance.now();
  const page = await openPage(serving, last - MISSED);
  while (!page.seenMs.has(last)) await sleep(2);
  const tookMs = performance.now() - beganMs;
  if (page.seenMs.size !== MISSED) throw new Error(`The page got ${page.seenMs.size} events`);
  page.socket.terminate();
  return tookMs;
}
