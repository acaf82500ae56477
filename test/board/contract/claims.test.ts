/** What every board promises about claims, on both engines. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { claimNext, claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { addLedgerEntry } from '../../../packages/copse/src/tasks/act/ledger.ts';
import { canTake, metCapabilities } from '../../../packages/copse/src/tasks/rules/capabilities.ts';
import {
  type AgentName,
  type EventNumber,
  type LedgerEntryId,
  type NodeId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import {
  decideCrash,
  decideFinish,
  decidePark,
  decideStuck,
} from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import type { Author } from '../../../packages/copse/src/board/rules/event.ts';
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

  describe('gives a task', () => {
    // promise: one-claim
    it('to exactly one of many that want it', async () => {
      const { id } = await newTask(board, { title: 'Wanted' });
      const boards = [board, await place.open(), await place.open(), await place.open()];
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          claimTask(contextOf(boards[index % 4] ?? board), id, claimant(`se-${index}`)),
        ),
      );
      expect(outcomes.filter((outcome) => outcome.kind === 'done')).toHaveLength(1);
      expect((await loaded(id)).token).toBe(1);
    });

    it('to each of many that want any, the urgent ones first and none twice', async () => {
      for (const priority of ['p1', 'p5', 'p3', 'p4', 'p2', 'p5', 'p1', 'p2']) {
        await newTask(board, { title: priority, priority });
      }
      const boards = [board, await place.open(), await place.open()];
      const claimed = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          claimNext(contextOf(boards[index % 3] ?? board), {
            claimant: claimant(`se-${index}`),
            capabilities: [],
          }),
        ),
      );
      const tasks = claimed.filter((task) => task !== undefined);
      expect(new Set(tasks.map((task) => task.id)).size).toBe(8);
      expect(tasks).toHaveLength(8);
    });

    it('only to an agent that is able and meant', async () => {
      await newTask(board, { title: 'GPU', priority: 'p5', requires: ['gpu'] });
      await newTask(board, { title: 'For another', priority: 'p4', agent: 'reviewer' });
      const plain = await newTask(board, { title: 'Anyone' });
      const request = { claimant: claimant('se-1'), capabilities: ['typescript'] };
      expect((await claimNext(contextOf(board), request))?.id).toBe(plain.id);
      expect(await claimNext(contextOf(board), request)).toBeUndefined();
      const able = {
        claimant: { ...claimant('se-2'), agent: brand<AgentName>('reviewer') },
        capabilities: ['gpu'],
      };
      expect((await claimNext(contextOf(board), able))?.title).toBe('GPU');
      expect((await claimNext(contextOf(board), able))?.title).toBe('For another');
    });

    // promise: stale-token-fenced
    it('with a lease that only the newest token renews', async () => {
      const { id } = await newTask(board, { title: 'Leased' });
      const first = must(await claimTask(contextOf(board), id, claimant('se-1')));
      expect(await board.lease(id)).toMatchObject({ token: 1 });
      const later = timestamp(Date.now() + 60_000);
      expect(await board.renewLease(id, first.token, later)).toMatchObject({ kind: 'renewed' });
      expect(await board.lease(id)).toMatchObject({ renewedAt: later });

      await crash(first);
      expect(await board.lease(id)).toBeUndefined();
      expect(await board.renewLease(id, first.token, later)).toEqual({ kind: 'not_held' });

      const second = must(await claimTask(contextOf(board, person, 400_000), id, claimant('se-2')));
      expect(second.token).toBe(2);
      expect(await board.renewLease(id, first.token, later)).toEqual({ kind: 'fenced' });
      expect(await board.lease(id)).toMatchObject({ token: 2 });
    });

    // promise: stale-token-fenced
    it('once: an older token changes nothing, whatever its holder still tries', async () => {
      const { id } = await newTask(board, { title: 'Fenced' });
      const old = must(await claimTask(contextOf(board), id, claimant('se-1')));
      await crash(old);
      must(await claimTask(contextOf(board, person, 400_000), id, claimant('se-2')));
      const before = await loaded(id);
      const count = (await events()).length;
      const attempts = [
        (task: Task) =>
          decideFinish(task, old.token, { kind: 'done', how: 'no_changes', commit: null }, now()),
        (task: Task) => decideStuck(task, old.token, 'why?', now()),
        (task: Task) => decideCrash(task, old.token, 'gone', now(), defaultPolicy.retry),
        (task: Task) => decidePark(task, old.token, { until: now(), because: 'rate_limit' }, now()),
      ];
      for (const attempt of attempts) {
        const outcome = await change(contextOf(board), async (change) =>
          change.apply(attempt(await change.require('task', id))),
        );
        expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'fenced' } });
      }
      expect(await loaded(id)).toEqual(before);
      expect(await events()).toHaveLength(count);
    });

    // promise: own-task-only
    it('and lets a session add to the ledger of the task it holds, and of no other', async () => {
      const { id } = await newTask(board, { title: 'Mine' });
      const other = await newTask(board, { title: 'Not mine' });
      const { token } = must(await claimTask(contextOf(board), id, claimant('se-1')));
      const by = { kind: 'session', session: claimant('se-1').session, token } as const;
      const entry = { kind: 'learning', text: 'Migrations first' };
      expect(must(await addLedgerEntry(contextOf(board, by), id, entry)).session).toBe('se-1');
      expect(await addLedgerEntry(contextOf(board, by), other.id, entry)).toMatchObject({ kind: 'refused' });
      const older = { ...by, token: fencingToken(token - 1) };
      expect(await addLedgerEntry(contextOf(board, older), id, entry)).toMatchObject({
        kind: 'refused',
        refusal: { code: 'fenced' },
      });
      expect(await board.list('ledger', { task: id })).toHaveLength(1);
    });

    it('and limits what a session adds to a ledger, and not what a person adds', async () => {
      const { id } = await newTask(board, { title: 'Mine' });
      const { token } = must(await claimTask(contextOf(board), id, claimant('se-1')));
      const by = { kind: 'session', session: claimant('se-1').session, token } as const;
      const { textLength, perTask } = defaultPolicy.ledger;
      const add = (text: string, author: Author = by) =>
        addLedgerEntry(contextOf(board, author), id, { kind: 'learning', text });
      const refused = { kind: 'refused', refusal: { code: 'invalid', next: ['copse artifact add --help'] } };
      expect(await add('x'.repeat(textLength + 1))).toMatchObject(refused);
      must(await add('x'.repeat(textLength)));
      const entry = {
        type: 'ledger.added',
        task: id,
        session: by.session,
        kind: 'learning',
        text: 'x',
      } as const;
      const more = Array.from({ length: perTask - 2 }, (_, index) => ({
        ...entry,
        id: brand<LedgerEntryId>(`le-${index}`),
        at: now(),
      }));
      await board.transact((transaction) => transaction.record(by, more));
      must(await add('the last one'));
      expect(await add('one more')).toMatchObject(refused);
      must(await add('x'.repeat(textLength + 1), person));
      expect(await board.list('ledger', { task: id })).toHaveLength(perTask + 1);
    });

    it('that a person moved only to the node that it was moved to', async () => {
      const { id } = await newTask(board, { title: 'Moved' });
      const here = claimant('se-1');
      const [at, to] = [now(), { node: brand<NodeId>('no-2'), name: 'desk' }];
      await board.transact((transaction) => transaction.record(person, [{ type: 'task.moved', id, at, to }]));
      expect(await claimNext(contextOf(board), { claimant: here, capabilities: [] })).toBeUndefined();
      const there = { ...here, node: to.node };
      const claimed = await claimNext(contextOf(board), { claimant: there, capabilities: [] });
      expect(claimed).toMatchObject({ id, moveTo: null, state: { status: 'in_progress' } });
    });

    it('as `canTake` says, for any requirements and offers', async () => {
      const words = ['node', 'node:22', 'gpu', 'rust'];
      for (const requires of [[], ['node'], ['node:22'], ['gpu', 'rust'], ['gpu', 'node']]) {
        await newTask(board, { title: requires.join(' ') || 'nothing', requires });
      }
      const subsets = Array.from({ length: 2 ** words.length }, (_, bits) =>
        words.filter((_word, index) => (bits >> index) & 1),
      );
      const all = await board.tasks({ order: 'urgent' });
      for (const capabilities of subsets) {
        const agent = { name: brand<AgentName>('coder'), capabilities };
        const node = brand<NodeId>('no-1');
        const next = await board.transact((transaction) => transaction.nextReady({ at: now(), agent, node }));
        expect(next?.id).toBe(all.find((task) => canTake(task, agent).kind === 'can')?.id);
        const withoutPlain = all.filter((task) => task.requires.length > 0);
        expect(withoutPlain.some((task) => canTake(task, agent).kind === 'can')).toBe(
          withoutPlain.some((task) =>
            task.requires.every((one) => metCapabilities(capabilities).includes(one)),
          ),
        );
      }
    });

    const crash = async (task: Task) => {
      const outcome = await change(contextOf(board), async (change) =>
        change.apply(
          decideCrash(await change.require('task', task.id), task.token, 'gone', now(), defaultPolicy.retry),
        ),
      );
      must(outcome);
    };
  });

  // promise: own-task-only, stale-token-fenced
  it('refuses every record of a session that did not hold the task', async () => {
    const { id } = await newTask(board, { title: 'Held' });
    const { token } = must(await claimTask(contextOf(board), id, claimant('se-1')));
    const event = { type: 'task.edited', id, at: now(), changes: { title: 'Taken over' } } as const;
    for (const wrong of [token - 1, token + 1]) {
      const by = { kind: 'session', session: claimant('se-1').session, token: fencingToken(wrong) } as const;
      const attempt = board.transact((transaction) => transaction.record(by, [event]));
      await expect(attempt).rejects.toThrow(/does not hold/);
    }
    // Another session, of a task that counts to the same number.
    const other = await newTask(board, { title: 'Other' });
    expect(must(await claimTask(contextOf(board), other.id, claimant('se-2'))).token).toBe(token);
    const by = { kind: 'session', session: claimant('se-2').session, token } as const;
    await expect(board.transact((transaction) => transaction.record(by, [event]))).rejects.toThrow(
      /does not hold/,
    );
    expect((await loaded(id)).title).toBe('Held');
  });
});
