/**
 * What one PostgreSQL carries: simulated nodes with agents that only wait, in a few processes. Tasks are added as fast as the
 * agents can take them; each task is added, claimed and finished. The generator and the server share this computer.
 */

import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { type EventNumber, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { contextOf, newAddress, openDurably } from '../../boards.ts';
import { WorkerProcess } from '../../processes.ts';
import { type Bench, type Result, type Row, inMs, quantile } from '../../row.ts';
import type { FleetOrders, FleetWork } from '../../workers/fleet-nodes.ts';

const PROCESSES = 4;
const TICKS_PER_SECOND = 100;

interface Size {
  readonly nodes: number;
  readonly agents: number;
  /** Tasks added in a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** The last is the goal; the others show where it bends. Each rate keeps all agents busy for about six seconds a task. */
const sizes = [
  { nodes: 4, agents: 60, rate: 10 },
  { nodes: 16, agents: 250, rate: 42 },
  { nodes: 64, agents: 1_000, rate: 175 },
] as const;

export const fleet: Row = {
  name: 'fleet',
  timeoutMs: 300_000,
  async measure(bench) {
    const seconds = bench.isQuick ? 8 : 20;
    const results: Result[] = [];
    for (const size of sizes) results.push(...(await measureSize(bench, { ...size, seconds })));
    return results;
  },
};

async function measureSize(bench: Bench, { nodes, agents, rate, seconds }: Size): Promise<readonly Result[]> {
  const address = await newAddress(bench, 'postgres');
  if (address.engine !== 'postgres') throw new Error('This row is about PostgreSQL');
  const board = await openDurably(address);
  const each = nodes / PROCESSES;
  // As long as it takes to keep all agents busy at this rate.
  const workMs = (agents / rate) * 1_000;
  const workers = Array.from({ length: PROCESSES }, (_, index) => {
    const orders: FleetOrders = {
      address,
      first: index * each,
      nodes: each,
      agents: Math.ceil(agents / nodes),
      workMs,
    };
    return new WorkerProcess<object, FleetWork>(bench, 'fleet-nodes.ts', JSON.stringify(orders));
  });
  await Promise.all(workers.map((worker) => worker.answer()));
  await add(board, rate, workMs / 1_000);
  const server = await serverOf(address.url);
  const [first, beganMs, cpuMs] = [await board.lastEvent(), performance.now(), cpuOf(server)];
  await add(board, rate, seconds);
  const took = (performance.now() - beganMs) / 1_000;
  const cores = (cpuOf(server) - cpuMs) / 1_000 / took;
  const seen = await eventsAfter(board, first);
  const waitsMs = seen.flatMap(({ readyMs, claimedMs }) =>
    claimedMs === undefined ? [] : [claimedMs - readyMs],
  );
  const waiting = seen.filter(({ claimedMs }) => claimedMs === undefined).length;
  const transitions = (await board.events({ after: first, limit: 1_000_000 })).filter(({ event }) =>
    ['task.created', 'task.claimed', 'task.done'].includes(event.type),
  ).length;
  await Promise.all(workers.map((worker) => worker.end()));
  await board.close();
  const [p95, middle] =
    waitsMs.length === 0 ? [Infinity, Infinity] : [quantile(waitsMs, 0.95), quantile(waitsMs, 0.5)];
  const of = `${nodes} nodes, ${agents} agents`;
  const against = `the server used ${cores.toFixed(2)} cores; ${waiting} of ${seen.length} tasks not claimed at the end`;
  return [
    {
      what: `task transitions, ${of}`,
      measured: `${Math.round(transitions / took)} /s`,
      against,
      figure: transitions / took,
      goal: { atLeast: Math.min(500, 2.9 * rate), unit: '/s' },
      limit: null,
    },
    {
      what: `ready to claimed, p95, ${of}`,
      measured: inMs(p95),
      against: `median ${inMs(middle)}`,
      figure: p95,
      goal: { atMost: 1_000, unit: 'ms' },
      limit: null,
      broken:
        waiting > seen.length / 10 ? `${waiting} of ${seen.length} tasks were never claimed` : undefined,
    },
  ];
}

/** At a steady rate, or as fast as the board takes them. */
async function add(board: Board, rate: number, seconds: number): Promise<void> {
  const context = contextOf(board);
  const beganMs = performance.now();
  const adding = new Set<Promise<unknown>>();
  for (let added = 0; added < rate * seconds;) {
    const due = Math.min(rate * seconds, ((performance.now() - beganMs) / 1_000) * rate);
    for (; added < due; added += 1) {
      const one: Promise<unknown> = addTask(context, { title: `Task ${added}` }).finally(() =>
        adding.delete(one),
      );
      adding.add(one);
    }
    await sleep(1_000 / TICKS_PER_SECOND);
    if (adding.size > rate) await Promise.race(adding);
  }
  await Promise.all(adding);
}

async function eventsAfter(
  board: Board,
  first: EventNumber,
): Promise<readonly { readonly readyMs: number; readonly claimedMs: number | undefined }[]> {
  const events = await board.events({
    after: first,
    limit: 1_000_000,
    types: ['task.created', 'task.claimed'],
  });
  const claimed = new Map(
    events.flatMap(({ event }) => (event.type === 'task.claimed' ? [[event.id, event.at] as const] : [])),
  );
  return events.flatMap(({ event }) =>
    event.type === 'task.created' ? [{ readyMs: event.at, claimedMs: claimed.get(brand(event.id)) }] : [],
  );
}

/** The parent of every process of the server. */
async function serverOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url.replace(/\?.*/, '') });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const parent = Number(statOf(rows[0]!.pid)[1]);
  await client.end();
  return parent;
}

/** In ms, with processes of it that have ended. */
function cpuOf(server: number): number {
  const TICK_MS = 10;
  const own = statOf(server).slice(11, 15).map(Number);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter(([, parent]) => Number(parent) === server)
    .flatMap((stat) => stat.slice(11, 13).map(Number));
  return [...own, ...children].reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
}

/** From the state on: the name of a process may contain anything. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
