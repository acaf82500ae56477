/** What every board promises, on both engines. */

import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import fc from 'fast-check';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import { claimNext, claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { addLedgerEntry } from '../../../packages/copse/src/tasks/act/ledger.ts';
import { addTask, deleteTasks, editTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import type { CheckEvent, Verdict } from '../../../packages/copse/src/queue/rules/check.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type BranchName,
  type CheckId,
  type CommitId,
  type EventNumber,
  type LandingId,
  type NodeId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { newQueue } from '../../../packages/copse/src/queue/rules/merge-queue.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { emptyQueueState } from '../../../packages/copse/src/queue/rules/decide/state.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import type { TaskEvent } from '../../../packages/copse/src/tasks/rules/events.ts';
import { decideFinish } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import type { Board, EventQuery } from '../../../packages/copse/src/board/port.ts';
import { type BoardPlace, contextOf, engines, newPlace, person } from '../../support/board/boards.ts';
import { claimant, must, newTask } from '../../support/records/tasks.ts';

const start = brand<EventNumber>(0);
const now = () => timestamp(Date.now());

describe.each(engines)('a board on %s', (engine) => {
  let place: BoardPlace;
  let board: Board;

  beforeEach(async () => {
    place = await newPlace(engine);
    board = await place.open();
  });

  afterEach(() => place[Symbol.asyncDispose]());

  const events = async () => board.events({ after: start, limit: 1_000 });
  const loaded = async (id: TaskId): Promise<Task> => {
    const task = await board.get('task', id);
    if (!task) throw new Error(`${id} is gone`);
    return task;
  };

  describe('finds', () => {
    it('some records by their ids, however many are asked for, and leaves out those that are missing', async () => {
      const tasks = [await newTask(board, { title: 'One' }), await newTask(board, { title: 'Two' })];
      for (const { id } of tasks)
        must(await addLedgerEntry(contextOf(board), id, { kind: 'learning', text: id }));
      const entries = await board.list('ledger');
      const missing = Array.from({ length: 2_500 }, (_, index) => `le-none-${index}`);
      const found = await board.some('ledger', [...missing, ...entries.map(({ id }) => id)]);
      expect([...found.values()].map(({ text }) => text).toSorted()).toEqual(
        tasks.map(({ id }) => id).toSorted(),
      );
      for (const [id, entry] of found) expect(entry.id).toBe(id);
      expect(await board.some('ledger', [])).toEqual(new Map());
    });
  });

  describe('keeps', () => {
    it('a task exactly as it was added, for every connection', async () => {
      const first = await newTask(board, { title: 'First' });
      const added = await newTask(board, {
        title: 'Größe ändern 😀 ‏שלום',
        body: 'line\r\n\tline',
        priority: 'p5',
        kind: 'non-code',
        areas: ['src/**', 'docs'],
        requires: ['typescript', 'gpu'],
        accept: ['npm test'],
        agent: 'coder',
        dependsOn: [first.id],
        workItem: { source: 'github', id: '42', url: null },
      });
      const other = await place.open();
      expect(await other.get('task', added.id)).toEqual(added);
      expect(added.state.status).toBe('pending');
    });

    it('any text of a body or a ledger entry, byte for byte', async () => {
      const task = await newTask(board, { title: 'Text' });
      const strings = fc.string({
        unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
        size: 'medium',
      });
      await fc.assert(
        fc.asyncProperty(strings, async (body) => {
          must(await editTask(contextOf(board), task.id, { body: `x${body}` }).then(orUnchanged(task)));
          expect((await loaded(task.id)).body).toBe(`x${body}`);
          const entry = must(
            await addLedgerEntry(contextOf(board), task.id, { kind: 'learning', text: `x${body}` }),
          );
          expect((await board.get('ledger', entry.id))?.text).toBe(`x${body}`);
        }),
        { numRuns: 40 },
      );
    });

    it.each([
      ['NUL', 'a\0b'],
      ['lone surrogates', '\ud800 and \udc00'],
      ['a body of 1 MB', 'ü😀'.repeat(200_000)],
      ['emoji, right-to-left and combining characters', '👩‍👩‍👧 עברית العربية e\u0301'],
    ])('a body with %s', async (_, body) => {
      const { id } = await newTask(board, { title: 'Body', body });
      expect((await loaded(id)).body).toBe(body);
    });

    it.each([
      ['NUL', 'a\0b'],
      ['a lone surrogate', 'a\ud800b'],
      ['a line break', 'a\nb'],
      ['nothing', ' '],
    ])('no title with %s, and says why', async (_, title) => {
      const outcome = await addTask(contextOf(board), { title });
      expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'invalid' } });
      expect(await events()).toEqual([]);
    });

    it('one task for one work item', async () => {
      const workItem = { source: 'github', id: '7', url: null };
      const first = await newTask(board, { title: 'Once', workItem });
      expect(await addTask(contextOf(board), { title: 'Twice', workItem })).toMatchObject({
        kind: 'refused',
        refusal: { code: 'already_a_task', reason: 'github 7 is already ' + first.id + '.' },
      });
      expect(await board.tasks({ order: 'urgent' })).toHaveLength(1);
    });

    it('tasks in the same order on both engines: urgent first, then older, then by id', async () => {
      const priorities = ['p1', 'p5', 'p3', 'p5', 'p2'] as const;
      const added: Task[] = [];
      for (const [index, priority] of priorities.entries()) {
        added.push(await newTask(board, { title: `${index}`, priority }, { at: 1_000 + (index % 2) }));
      }
      const expected = added
        .toSorted((a, b) => b.priority - a.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
        .map((task) => task.id);
      expect((await board.tasks({ order: 'urgent' })).map((task) => task.id)).toEqual(expected);
    });
  });

  describe('changes', () => {
    // promise: event-with-change
    it('state and event together: a transaction that fails leaves neither', async () => {
      const task = await newTask(board, { title: 'Stays' });
      const before = await events();
      const failing = board.transact(async (transaction) => {
        const at = now();
        await transaction.record(person, [
          { type: 'task.edited', id: task.id, at, changes: { title: 'Gone' } },
        ]);
        throw new Error('afterwards');
      });
      await expect(failing).rejects.toThrow('afterwards');
      expect(await loaded(task.id)).toEqual(task);
      expect(await events()).toEqual(before);
    });

    // promise: event-with-change
    it('nothing at all when one of several decisions is refused', async () => {
      const task = await newTask(board, { title: 'Whole' });
      const outcome = await editTask(contextOf(board), task.id, {
        title: 'Half',
        addDependencies: [task.id],
      });
      expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'cycle' } });
      expect((await loaded(task.id)).title).toBe('Whole');
    });

    it('with numbers without gaps, also when several processes write', async () => {
      const boards = [board, await place.open(), await place.open(), await place.open()];
      await Promise.all(
        boards.flatMap((one) =>
          Array.from({ length: 10 }, (_, index) => newTask(one, { title: `${index}` })),
        ),
      );
      expect((await events()).map((event) => event.number)).toEqual(
        Array.from({ length: 40 }, (_, index) => index + 1),
      );
      expect(await board.lastEvent()).toBe(40);
    });

    // promise: no-lost-update
    it('one after another on the same task, so that no update is lost', async () => {
      const { id } = await newTask(board, { title: 'Counter' });
      const boards = [board, await place.open(), await place.open(), await place.open()];
      const appendOne = (one: Board) =>
        change(contextOf(one), async (change) => {
          const { body } = await change.require('task', id);
          await change.apply(
            decided<TaskEvent>({ type: 'task.edited', id, at: change.at, changes: { body: `${body}x` } }),
          );
        });
      await Promise.all(boards.flatMap((one) => Array.from({ length: 10 }, () => appendOne(one))));
      expect((await loaded(id)).body).toBe('x'.repeat(40));
    });

    it('a cycle never, also when two changes that only together close it come at once', async () => {
      // Neither change touches a task that the other one touches: only the whole graph shows the cycle.
      for (let round = 0; round < 5; round += 1) {
        const a = await newTask(board, { title: 'A' });
        const b = await newTask(board, { title: 'B' });
        const waitsForA = await newTask(board, { title: 'Waits for A', dependsOn: [a.id] });
        const waitsForB = await newTask(board, { title: 'Waits for B', dependsOn: [b.id] });
        const other = await place.open();
        const outcomes = await Promise.all([
          editTask(contextOf(board), a.id, { addDependencies: [waitsForB.id] }),
          editTask(contextOf(other), b.id, { addDependencies: [waitsForA.id] }),
        ]);
        expect(outcomes.map((outcome) => outcome.kind).toSorted()).toEqual(['done', 'refused']);
      }
    });

    it('one task for a work item, also when several add it at once', async () => {
      const boards = [board, await place.open(), await place.open(), await place.open()];
      const workItem = { source: 'github', id: '9', url: null };
      const outcomes = await Promise.all(
        boards.map((one) => addTask(contextOf(one), { title: 'Same', workItem })),
      );
      expect(outcomes.filter((outcome) => outcome.kind === 'done')).toHaveLength(1);
      const codes = outcomes.map((outcome) => (outcome.kind === 'done' ? 'added' : outcome.refusal.code));
      expect(codes.toSorted()).toEqual(['added', 'already_a_task', 'already_a_task', 'already_a_task']);
    });

    it('makes a task ready although its done dependencies were deleted', async () => {
      const first = await newTask(board, { title: 'First' });
      const other = await newTask(board, { title: 'Other' });
      const last = await newTask(board, { title: 'Last', dependsOn: [first.id, other.id] });
      for (const { id } of [first, other]) {
        const { token } = must(await claimTask(contextOf(board), id, claimant(`se-${id}`)));
        const done = { kind: 'done', how: 'no_changes', commit: null } as const;
        must(
          await change(contextOf(board), async (change) =>
            change.apply(decideFinish(await change.require('task', id), token, done, now())),
          ),
        );
        must(await deleteTasks(contextOf(board), [id], { unlink: false }));
      }
      expect(await loaded(last.id)).toMatchObject({ dependsOn: [], state: { status: 'ready' } });
    });

    it('deletes a task and keeps its events, and never gives out its id again', async () => {
      const { id } = await newTask(board, { title: 'Short-lived' });
      must(await deleteTasks(contextOf(board), [id], { unlink: false }));
      expect(await board.get('task', id)).toBeUndefined();
      expect(
        (await board.events({ after: start, limit: 10, task: id })).map(({ event }) => event.type),
      ).toEqual(['task.created', 'task.deleted']);
      expect(await board.transact((transaction) => transaction.wasUsed(id))).toBe(true);
    });

    it('reads events by pages of limited size, each with at least one event', async () => {
      const task = await newTask(board, { title: 'One', body: 'ä'.repeat(5_000) });
      await newTask(board, { title: 'Two', body: 'x'.repeat(10_000) });
      for (const title of ['Three', 'Four', 'Five']) await newTask(board, { title });
      must(await editTask(contextOf(board), task.id, { title: 'Renamed' }));
      const page = async (after: number, limit: number, mostBytes: number, only?: TaskId) => {
        const asked = { after: brand<EventNumber>(after), limit, mostBytes, ...(only && { task: only }) };
        const { events, hasMore } = await board.eventPage(asked);
        return [...events.map(({ number }) => number), hasMore];
      };
      expect(await page(0, 10, 1_000)).toEqual([1, true]);
      expect(await page(0, 10, 10_500)).toEqual([1, 2, true]);
      expect(await page(0, 10, 1)).toEqual([1, true]);
      expect(await page(2, 10, 100_000)).toEqual([3, 4, 5, 6, false]);
      expect(await page(2, 2, 100_000)).toEqual([3, 4, true]);
      expect(await page(4, 2, 100_000)).toEqual([5, 6, false]);
      expect(await page(6, 2, 100_000)).toEqual([false]);
      expect(await page(0, 10, 1_000, task.id)).toEqual([1, true]);
      expect(await page(1, 10, 1_000, task.id)).toEqual([6, false]);
    });

    it('lists events of given types, in order, of one task or of all', async () => {
      const one = await newTask(board, { title: 'One' });
      const other = await newTask(board, { title: 'Other' });
      must(await editTask(contextOf(board), one.id, { title: 'Renamed' }));
      must(await deleteTasks(contextOf(board), [one.id, other.id], { unlink: false }));
      const ask = async (query: Omit<EventQuery, 'limit'> & { readonly limit?: number }) =>
        (await board.events({ limit: 10, ...query })).map(({ number, event }) => [number, event.type]);
      expect(await ask({ after: start, types: ['task.created', 'task.edited'] })).toEqual([
        [1, 'task.created'],
        [2, 'task.created'],
        [3, 'task.edited'],
      ]);
      expect(await ask({ after: brand<EventNumber>(1), types: ['task.created'] })).toEqual([
        [2, 'task.created'],
      ]);
      expect(await ask({ after: start, limit: 1, types: ['task.deleted'] })).toEqual([[4, 'task.deleted']]);
      expect(await ask({ after: start, task: one.id, types: ['task.created', 'task.deleted'] })).toEqual([
        [1, 'task.created'],
        [4, 'task.deleted'],
      ]);
      expect(await ask({ after: start, types: ['session.used'] })).toEqual([]);
      expect(await ask({ after: start, types: [] })).toEqual([]);
    });

    it('releases the dependants of a deleted task when asked to', async () => {
      const first = await newTask(board, { title: 'First' });
      const second = await newTask(board, { title: 'Second', dependsOn: [first.id] });
      expect(await deleteTasks(contextOf(board), [first.id], { unlink: false })).toMatchObject({
        kind: 'refused',
        refusal: { code: 'has_dependants' },
      });
      must(await deleteTasks(contextOf(board), [first.id], { unlink: true }));
      expect(await loaded(second.id)).toMatchObject({ dependsOn: [], state: { status: 'ready' } });
      expect(await board.dependants(first.id)).toEqual([]);
    });

    it('counts tasks by status, and finds the unfinished ones that wait for a task through others', async () => {
      expect(await board.countByStatus()).toEqual(new Map());
      const first = await newTask(board, { title: 'First' });
      const second = await newTask(board, { title: 'Second', dependsOn: [first.id] });
      const third = await newTask(board, { title: 'Third', dependsOn: [second.id] });
      await newTask(board, { title: 'Apart' });
      expect(await board.countByStatus()).toEqual(
        new Map([
          ['ready', 2],
          ['pending', 2],
        ]),
      );
      expect(await board.dependantGraph([])).toEqual(new Map());
      expect(await board.dependantGraph([first.id])).toEqual(
        new Map([
          [first.id, [second.id]],
          [second.id, [third.id]],
        ]),
      );
      expect(await board.dependantGraph([third.id])).toEqual(new Map());
    });
  });

  it('wakes no follower when nothing was recorded', async () => {
    let wakes = 0;
    const other = await place.open();
    const subscription = await other.onChange(() => (wakes += 1));
    const request = { claimant: claimant('se-1'), capabilities: [] };
    for (let time = 0; time < 5; time += 1) await claimNext(contextOf(board), request);
    await setTimeout(100);
    expect(wakes).toBe(0);
    await subscription.stop();
  });

  it('wakes followers, also from another connection', async () => {
    const other = await place.open();
    const woken = Promise.withResolvers<void>();
    const subscription = await other.onChange(() => woken.resolve());
    await newTask(board, { title: 'Ring' });
    await expect(woken.promise).resolves.toBeUndefined();
    await subscription.stop();
  });

  it('finds the checks of a tree, the oldest first, and those of no other', async () => {
    const check = (id: string, tree: string, at: number, verdict?: Verdict): readonly CheckEvent[] => {
      const of = { id: brand<CheckId>(id), at: timestamp(at) };
      const started = { target: brand<BranchName>('main'), tree, command: 'npm test', environment: 'linux' };
      return [
        { type: 'check.started', ...of, ...started, node: brand<NodeId>('no-1') },
        ...(verdict ? [{ type: 'check.ended', ...of, verdict, exitCode: 1, log: null } as const] : []),
      ];
    };
    const told = [
      ...check('ck-b', 'tree', 2, 'green'),
      ...check('ck-a', 'tree', 1, 'red'),
      ...check('ck-d', 'tree', 2),
      ...check('ck-c', 'another tree', 1, 'green'),
    ];
    await board.transact((transaction) => transaction.record(person, told));
    const found = await board.checksOf('tree');
    expect(found.map(({ id, end }) => `${id} ${end?.verdict}`)).toEqual([
      'ck-a red',
      'ck-b green',
      'ck-d undefined',
    ]);
    expect(found[0]).toEqual(await board.get('check', brand<CheckId>('ck-a')));
    expect(await board.checksOf('tre_')).toEqual([]);
    expect(await board.transact((transaction) => transaction.checksOf('another tree'))).toHaveLength(1);
  });

  it('keeps the queue of every target, with the whole state of its decisions', async () => {
    const id = brand<BranchName>('release/1.0 “ü”');
    const state = {
      ...emptyQueueState,
      next: 9,
      batches: [
        {
          id: 1,
          changes: [
            { landing: brand<LandingId>('la-1'), task: brand<TaskId>('cp-1'), head: brand<CommitId>('c1') },
          ],
          stage: { is: 'checking', run: 2, onto: brand<CommitId>('c0'), of: null },
          wasRed: true,
          wasSlow: false,
        },
      ],
      passedOver: { [brand<LandingId>('la-1')]: 3 },
    } as const;
    const of = { id, at: timestamp(5) };
    await board.transact((transaction) =>
      transaction.record(person, [
        { type: 'queue.decided', ...of, state, runs: [] },
        { type: 'queue.paused', ...of, what: 'land', reason: 'a release' },
      ]),
    );
    const expected = {
      ...newQueue(id),
      state,
      paused: { accept: null, land: { since: 5, reason: 'a release' } },
    };
    expect(await board.get('queue', id)).toEqual(expected);
    expect(await (await place.open()).list('queue')).toEqual([expected]);
    expect(await board.get('queue', brand<BranchName>('main'))).toBeUndefined();
  });

  it('remembers when a machine was last seen, without an event', async () => {
    const id = brand<NodeId>('no-1');
    await board.transact((transaction) =>
      transaction.record(person, [{ type: 'node.joined', id, at: now(), name: 'laptop' }]),
    );
    expect((await board.silences()).get(id)).toBeUndefined();
    const first = await board.seeNode(id);
    expect(Math.abs(first - Date.now())).toBeLessThan(60_000);
    expect((await board.silences()).get(id)).toBeLessThan(60_000);
    expect(await board.seeNode(id)).toBeGreaterThanOrEqual(first);
    expect(await board.seeNode(brand<NodeId>('no-2'))).toBeGreaterThanOrEqual(first);
    expect([...(await board.silences()).keys()]).toEqual([id]);
    expect(await events()).toHaveLength(1);
  });

  // promise: passwords-hidden
  it('names its address without the password', async () => {
    expect(board.location).not.toMatch(/secret|@/);
    expect(board.location).toContain(engine === 'sqlite' ? 'board.db' : 'postgres://127.0.0.1');
  });

  if (engine === 'postgres') {
    it('reports a lost connection, and continues with a new one', async () => {
      if (place.address.engine !== 'postgres') throw new Error('it is on PostgreSQL');
      const { url } = place.address;
      const admin = new pg.Client({ connectionString: inject('postgresUrl') });
      await admin.connect();
      const { id } = await newTask(board, { title: 'Survives' });
      const cut = board.transact(async (transaction) => {
        await transaction.get('task', id);
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where state = 'idle in transaction' and query like '%' || $1 || '%'`,
          [new URL(url).searchParams.get('schema')],
        );
        await setTimeout(50);
        await transaction.tasks({ order: 'urgent' });
      });
      await expect(cut).rejects.toMatchObject({ name: 'BoardUnavailable' });
      await admin.end();
      expect((await newTask(board, { title: 'Goes on' })).state.status).toBe('ready');
      expect((await loaded(id)).title).toBe('Survives');
    });
  }

  if (engine === 'sqlite') {
    // promise: no-lost-update
    it('decides under the write lock: no other process can write between its read and its write', async () => {
      if (place.address.engine !== 'sqlite') throw new Error('it is on SQLite');
      const intruder = new DatabaseSync(place.address.file, { timeout: 0 });
      const { id } = await newTask(board, { title: 'Mine' });
      await board.transact(async (transaction) => {
        await transaction.get('task', id);
        expect(() => intruder.exec('begin immediate')).toThrow(/locked/);
      });
      intruder.close();
    });

    // promise: writes-durable
    it('is durable: every commit reaches the disk', async () => {
      if (place.address.engine !== 'sqlite') throw new Error('it is on SQLite');
      const { openEngine } = await import('../../../packages/copse/src/board/open.ts');
      const { sql } = await import('kysely');
      const sqlite = await openEngine(place.address, defaultPolicy.board);
      const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(sqlite.db);
      const mode = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(sqlite.db);
      await sqlite.close();
      expect([rows[0]?.synchronous, mode.rows[0]?.journal_mode]).toEqual([2, 'wal']);
    });
  }
});

/** An edit that changes nothing is refused; for a round trip that is as good as done. */
function orUnchanged(task: Task) {
  return <T>(outcome: { kind: 'done'; value: T } | { kind: 'refused'; refusal: { reason: string } }) =>
    outcome.kind === 'refused' && outcome.refusal.reason.endsWith('already has these values.')
      ? ({ kind: 'done', value: task } as const)
      : outcome;
}
