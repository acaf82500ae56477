/**
 * A lagging standby is promoted: events that were confirmed are gone, and with them fencing tokens. The next writer begins a
 * term, no token is given out twice, and a follower says what it lost instead of skipping what comes.
 */

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';

import { type BoardAddress, openBoard } from '../../../packages/copse/src/board/open.ts';
import { followEvents } from '../../../packages/copse/src/board/follow.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import { type Cursor, type LostEvents, moveOn } from '../../../packages/copse/src/board/rules/term.ts';
import {
  type AgentName,
  type AttemptId,
  type EventNumber,
  type NodeId,
  type SessionId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Claimant } from '../../../packages/copse/src/tasks/rules/claim.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { decidePause, decideResume } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { contextOf, newPlace } from '../../support/board/boards.ts';
import { type PostgresServer, startPostgres } from '../../support/board/postgres.ts';
import { answer, git, newArea, newTasks } from '../../support/cli.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';
import { must, newTask } from '../../support/records/tasks.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
const area = newArea();

describe('a cursor of (term, number)', () => {
  const terms = [
    { term: 1, after: 0, at: timestamp(1) },
    { term: 2, after: 90, at: timestamp(2) },
    { term: 3, after: 95, at: timestamp(3) },
  ];

  it.each([
    [{ term: 3, number: 99 }, { term: 3, number: 99 }, null],
    [{ term: 2, number: 95 }, { term: 3, number: 95 }, null],
    [
      { term: 2, number: 99 },
      { term: 3, number: 95 },
      { term: 3, from: 96, to: 99 },
    ],
    [{ term: 1, number: 90 }, { term: 3, number: 90 }, null],
    [
      { term: 1, number: 99 },
      { term: 3, number: 90 },
      { term: 3, from: 91, to: 99 },
    ],
  ] satisfies [Cursor, Cursor, LostEvents | null][])('%o goes on at %o and lost %o', (cursor, next, lost) => {
    expect(moveOn(cursor, terms)).toEqual({ cursor: next, lost });
  });
});

it('a user without special rights can tell which server it is', async () => {
  const name = `plain_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client(inject('postgresUrl'));
  await admin.connect();
  await admin.query(`create role ${name} login`);
  await admin.query(`create schema ${name} authorization ${name}`);
  await admin.end();
  const url = `${inject('postgresUrl').replace('copse@', `${name}@`)}?schema=${name}`;
  const board = await openBoard({ engine: 'postgres', url }, defaultPolicy, { id: randomUUID(), at: 0 });
  await newTask(board, { title: 'By a plain user' });
  const server = await board.server();
  expect(server).toMatchObject({ isSynchronous: false, standbys: 0, term: { term: 1 } });
  expect(server?.identity).toMatch(/^\d+\/\d{8}\/\d+$/);
  await board.close();
});

// promise: new-server-new-term
it('a dump that was restored on the same server begins a term too', async () => {
  await using place = await newPlace('postgres');
  const board = await place.open();
  await newTask(board, { title: 'Before' });
  await restoreDump(place.address);
  await newTask(board, { title: 'After' });
  expect(await board.terms()).toMatchObject([{ term: 1 }, { term: 2, after: 1 }]);
});

// promise: new-server-new-term
it('work that was claimed before a term began is finished in it', async () => {
  await using place = await newPlace('postgres');
  if (place.address.engine !== 'postgres') throw new Error('not on PostgreSQL');
  const at = { ...newProject(area), env: { COPSE_BOARD: place.address.url } };
  const { task, worktree } = await taken('Claimed before', at);
  writeFileSync(path.join(worktree, 'mine'), 'x');
  git(worktree, 'add', '.');
  git(worktree, 'commit', '--quiet', '--message=feat: mine');
  await restoreDump(place.address);
  await newTasks(['The first write of the term'], at);
  const board = await place.open();
  expect(await board.terms()).toHaveLength(2);
  await answer(['finish', task], at);
  expect(await board.get('task', brand<TaskId>(task))).toMatchObject({
    retries: 0,
    state: { status: 'landing' },
  });
});

describe('a board whose lagging standby was promoted', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ durable: false });
  });
  afterAll(() => server.stop());

  // promise: tokens-grow, new-server-new-term
  it('begins a term: tokens skip, followers say what is lost, and claims that are known go on', async () => {
    const address: BoardAddress = { engine: 'postgres', url: server.url };
    const open = () => openBoard(address, defaultPolicy, { id: randomUUID(), at: Date.now() });
    const board = await open();
    const known = await newTask(board, { title: 'Claimed before' });
    const mine = must(await claimTask(contextOf(board), known.id, claimant('se-known')));
    const taken = await newTask(board, { title: 'Claimed after' });
    const standby = await server.standby();
    await standby.cutOff();
    const before = await board.lastEvent();

    // The standby lacks all of this.
    const lostClaim = must(await claimTask(contextOf(board), taken.id, claimant('se-lost')));
    await newTask(board, { title: 'Lost' });
    const last = await board.lastEvent();
    expect(last).toBe(before + 2);
    const stop = new AbortController();
    const seen: [number, string][] = [];
    const lost: LostEvents[] = [];
    const following = (async () => {
      const options = { after: brand<EventNumber>(0), signal: stop.signal, policy: defaultPolicy.board };
      for await (const { number, event } of followEvents(board, {
        ...options,
        onLost: (one) => void lost.push(one),
      }))
        seen.push([number, event.type]);
    })().catch((error: unknown) => error);
    await vi.waitFor(() => expect(seen).toHaveLength(last));

    await standby.takeOver();
    const other = await open();
    expect(await other.lastEvent()).toBe(before);
    expect(await other.terms()).toHaveLength(1);
    // The first write on the new server, of a process that had the old one.
    const again = must(await claimTask(contextOf(other), taken.id, claimant('se-next')));
    expect(again.token).toBeGreaterThan(lostClaim.token + 1_000);
    expect(await other.terms()).toMatchObject([
      { term: 1, after: 0 },
      { term: 2, after: before },
    ]);

    // A session whose claim the new server has goes on with its token; the lost one is refused.
    expect(await other.renewLease(known.id, mine.token, timestamp(Date.now()))).toMatchObject({
      kind: 'renewed',
    });
    expect(await other.renewLease(taken.id, lostClaim.token, timestamp(Date.now()))).toEqual({
      kind: 'fenced',
    });
    const paused = must(await pauseAndResume(other, known.id));
    expect(paused.token).toBeGreaterThan(mine.token + 1_000);

    await checkFollower(other, { seen, lost, before, last });
    stop.abort();
    await following;
    await checkHistory(other);
    await board.close();
    await other.close();
    await standby.stop();
  });
});

/** As pg_restore does it: the same rows in a new table. */
async function restoreDump(address: BoardAddress): Promise<void> {
  if (address.engine !== 'postgres') throw new Error('not on PostgreSQL');
  const url = new URL(address.url);
  const terms = `${url.searchParams.get('schema')}.terms`;
  url.searchParams.delete('schema');
  const client = new pg.Client(url.href);
  await client.connect();
  await client.query(`create table ${terms}_restored as table ${terms}`);
  await client.query(`drop table ${terms}`);
  await client.query(`alter table ${terms}_restored rename to terms`);
  await client.end();
}

interface Followed {
  readonly seen: readonly [number, string][];
  readonly lost: readonly LostEvents[];
  readonly before: number;
  readonly last: number;
}

/** A follower that lost its connection is started again where it was, as `events --after 1:<number>` is. */
async function checkFollower(other: Board, followed: Followed): Promise<void> {
  const { last, before } = followed;
  // One that lives through it goes back to where the new server goes on.
  const told = followed.seen.map(([number]) => number);
  expect(told.slice(0, last)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
  if (told.length > last) expect(told[last]).toBe(before + 1);
  const stop = new AbortController();
  const lost: LostEvents[] = [];
  const numbers: number[] = [];
  const end = await other.lastEvent();
  const options = {
    after: brand<EventNumber>(last),
    term: 1,
    signal: stop.signal,
    policy: defaultPolicy.board,
  };
  for await (const { number } of followEvents(other, { ...options, onLost: (one) => void lost.push(one) })) {
    numbers.push(number);
    if (number === end) stop.abort();
  }
  expect(lost).toEqual([{ term: 2, from: before + 1, to: last }]);
  expect(numbers).toEqual(Array.from({ length: end - before }, (_, at) => before + 1 + at));
  if (followed.lost.length > 0) expect(followed.lost).toEqual(lost);
}

/** Replayed, the events give the records, raised tokens and all: an export can be imported. */
async function checkHistory(board: Board): Promise<void> {
  const events = await board.events({ after: brand<EventNumber>(0), limit: 1_000 });
  const world = replay(events.map(({ event }) => event));
  for (const task of await board.tasks({ order: 'urgent' }))
    expect(world.task.get(task.id)).toMatchObject({ token: task.token, state: task.state });
}

async function pauseAndResume(board: Board, id: TaskId) {
  return change(contextOf(board), async (change) => {
    const held = await change.require('task', id);
    await change.apply(decidePause(held, change.at));
    const paused = await change.require('task', id);
    await change.apply(decideResume(paused, claimant('se-known'), change.at, defaultPolicy.lease));
    return change.require('task', id);
  });
}

function claimant(session: string): Claimant {
  return {
    session: brand<SessionId>(session),
    attempt: brand<AttemptId>('at-1'),
    node: brand<NodeId>('no-1'),
    agent: brand<AgentName>('coder'),
  };
}
