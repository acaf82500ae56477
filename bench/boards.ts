/** Boards with many tasks on them, filled faster than one event at a time. */

import { randomUUID } from 'node:crypto';
import path from 'node:path';

import { sql } from 'kysely';

import type { Engine } from '../packages/copse/src/board/sql/engine.ts';
import type { WriteTransaction } from '../packages/copse/src/board/sql/schema.ts';
import { KyselyBoard } from '../packages/copse/src/board/sql/kysely-board.ts';
import { migrate } from '../packages/copse/src/board/sql/migrate.ts';
import { type BoardAddress, openEngine } from '../packages/copse/src/board/open.ts';
import { toRow } from '../packages/copse/src/board/sql/rows.ts';
import type { Context } from '../packages/copse/src/board/context.ts';
import type { ClaimRequest } from '../packages/copse/src/tasks/act/claims.ts';
import type { Author, BoardEvent } from '../packages/copse/src/board/rules/event.ts';
import { type TaskId, brand, timestamp } from '../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../packages/copse/src/kernel/policy.ts';
import type { Task } from '../packages/copse/src/tasks/rules/task.ts';
import { type TaskEvent, evolveTask } from '../packages/copse/src/tasks/rules/events.ts';
import type { Board } from '../packages/copse/src/board/port.ts';
import type { Bench } from './row.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type EngineName = (typeof engines)[number];

const TASKS_PER_STATEMENT = 500;

const by: Author = { kind: 'person', name: null };

export async function newAddress(bench: Bench, engine: EngineName): Promise<BoardAddress> {
  return engine === 'sqlite'
    ? { engine, file: path.join(await bench.newFolder(), 'board.db') }
    : { engine, url: await bench.newPostgresUrl() };
}

/** As `openBoard` does it, but the engine can be asked whether it is durable. */
export async function openDurably(address: BoardAddress): Promise<Board> {
  const engine = await openEngine(address, defaultPolicy.board);
  await migrate(
    engine,
    { id: randomUUID(), at: Date.now() },
    { patienceMs: defaultPolicy.board.writePatienceMs },
  );
  await requireDurable(engine);
  return new KyselyBoard(engine, defaultPolicy);
}

export function contextOf(board: Board): Context {
  const clock = { now: () => timestamp(Date.now()) };
  return { board, clock, random: Math.random, policy: defaultPolicy, by };
}

export function claimRequest(name: string): ClaimRequest {
  return {
    claimant: {
      session: brand(`s-${name}`),
      attempt: brand(`a-${name}`),
      node: brand('n-bench'),
      agent: brand('claude'),
    },
    capabilities: [],
  };
}

/** Tasks that are ready and tasks that are done, each with the events that a board remembers of them. */
export async function fill(
  address: BoardAddress,
  { ready, done }: { readonly ready: number; readonly done: number },
): Promise<void> {
  const engine = await openEngine(address, defaultPolicy.board);
  await migrate(
    engine,
    { id: randomUUID(), at: Date.now() },
    { patienceMs: defaultPolicy.board.writePatienceMs },
  );
  await engine.transaction(async (transaction) => {
    for (let from = 0; from < ready + done; from += TASKS_PER_STATEMENT) {
      const until = Math.min(from + TASKS_PER_STATEMENT, ready + done);
      const histories = Array.from({ length: until - from }, (_, index) =>
        historyOf(from + index, { isDone: from + index >= ready }),
      );
      await insert(transaction, histories);
    }
  });
  // The server does this automatically within a minute or so.
  if (engine.name === 'postgres') await sql`analyze`.execute(engine.db);
  await engine.close();
}

async function insert(
  transaction: WriteTransaction,
  histories: readonly (readonly TaskEvent[])[],
): Promise<void> {
  const tasks = histories.map((events) => toRow('task', replay(events)));
  await transaction.insertInto('tasks').values(tasks).execute();
  const events: readonly BoardEvent[] = histories.flat();
  const { last_event: last } = await transaction
    .updateTable('board')
    .set((board) => ({ last_event: board('last_event', '+', events.length) }))
    .returning('last_event')
    .executeTakeFirstOrThrow();
  const rows = events.map((event, index) => ({
    number: last - events.length + 1 + index,
    at: event.at,
    type: event.type,
    subject: event.id,
    task: event.id,
    data: JSON.stringify({ by, event }),
  }));
  await transaction.insertInto('events').values(rows).execute();
}

function historyOf(index: number, { isDone }: { readonly isDone: boolean }): readonly TaskEvent[] {
  const id: TaskId = brand(`cp-${index.toString(32).padStart(5, '0')}`);
  const at = timestamp(1_700_000_000_000 + index * 1_000);
  const definition = {
    title: `Make part ${index} of the page load without a second request`,
    body: 'The page asks for the same list twice. Keep what came first.\n\n'.repeat(5),
    priority: ((index % 5) + 1) as Task['priority'],
    kind: 'code',
    dependsOn: [],
    areas: [`src/part-${index % 50}/**`],
    requires: [],
    plan: null,
    agent: null,
    accept: [],
    workItem: null,
  } as const;
  const created: TaskEvent = { type: 'task.created', id, at, definition, status: 'ready' };
  return isDone ? [created, { type: 'task.done', id, at, how: 'landed', commit: null }] : [created];
}

function replay(events: readonly TaskEvent[]): Task {
  const task = events.reduce<Task | undefined>(evolveTask, undefined);
  if (task === undefined) throw new Error('These events leave no task');
  return task;
}

async function requireDurable(engine: Engine): Promise<void> {
  const settings =
    engine.name === 'sqlite'
      ? [await sql<{ synchronous: number }>`pragma synchronous`.execute(engine.db)]
      : [
          await sql<{ fsync: string }>`show fsync`.execute(engine.db),
          await sql<{
            synchronous_commit: string;
          }>`select reset_val as synchronous_commit from pg_settings where name = 'synchronous_commit'`.execute(
            engine.db,
          ),
        ];
  const found = Object.assign({}, ...settings.map(({ rows }) => rows[0])) as Record<string, unknown>;
  const FULL = 2;
  const isDurable =
    engine.name === 'sqlite'
      ? found['synchronous'] === FULL
      : found['fsync'] === 'on' && found['synchronous_commit'] === 'on';
  if (!isDurable) throw new Error(`A commit on ${engine.name} is not durable: ${JSON.stringify(found)}`);
}
