/** A request with a key is carried out once, on both engines, whatever is killed in between. */

import { describe, expect, test } from 'vitest';

import { KeyTakenOver, lentBoard } from '../../../packages/copse/src/board/lent.ts';
import type { KeyedRequest } from '../../../packages/copse/src/board/rules/keyed-request.ts';
import { openBoard, openEngine } from '../../../packages/copse/src/board/open.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { type BoardPlace, engines, newPlace } from '../../support/board/boards.ts';
import { newTask } from '../../support/records/tasks.ts';

const now = timestamp(1_700_000_000_000);
const { forMs, pendingMs } = defaultPolicy.keptAnswers;
const answer = { status: 201, body: '{"id":"cp-aaaa"}\n' };

let owners = 0;
function request(id: string, input = 'input'): KeyedRequest {
  owners += 1;
  return { id, input, owner: `owner-${owners}` };
}

async function keysOn({ address }: BoardPlace): Promise<readonly string[]> {
  const engine = await openEngine(address, defaultPolicy.board);
  const rows = await engine.db.selectFrom('answers').select('id').orderBy('id').execute();
  await engine.close();
  return rows.map(({ id }) => id);
}

// promise: server-once
describe.each(engines)('on %s', (engine) => {
  test('a second request gets the answer of the first, and one with another input none', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    const first = request('k');
    expect(await board.takeKey(first, now)).toEqual({ kind: 'taken' });
    await newTask(lentBoard(board, first), { title: 'Once' });
    expect(await board.takeKey(request('k'), now)).toEqual({ kind: 'pending' });
    await board.keepAnswer(first, answer);
    // Another connection, as after a restart.
    const later = await place.open();
    expect(await later.takeKey(request('k'), now)).toEqual({ kind: 'answered', answer });
    expect(await later.takeKey(request('k', 'another'), now)).toEqual({ kind: 'other_input' });
    expect(await later.takeKey(request('other', 'another'), now)).toEqual({ kind: 'taken' });
  });

  test('a request that was killed before its change is taken over, and then changes nothing itself', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    const [killed, next] = [request('k'), request('k')];
    await board.takeKey(killed, now);
    expect(await board.takeKey(next, now)).toEqual({ kind: 'taken' });
    // It was only slow.
    await expect(newTask(lentBoard(board, killed), { title: 'Twice' })).rejects.toThrow(KeyTakenOver);
    await newTask(lentBoard(board, next), { title: 'Once' });
    expect((await board.tasks({ order: 'urgent' })).map(({ title }) => title)).toEqual(['Once']);
  });

  test('a request that was killed after its change is not repeated: its answer counts as lost', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    const killed = request('k');
    await board.takeKey(killed, now);
    await newTask(lentBoard(board, killed), { title: 'Once' });
    const soon = timestamp(now + pendingMs - 1);
    expect(await board.takeKey(request('k'), soon)).toEqual({ kind: 'pending' });
    expect(await board.takeKey(request('k'), timestamp(now + pendingMs))).toEqual({ kind: 'answer_lost' });
    // The clock was set back, by a moment or by an hour.
    expect(await board.takeKey(request('k'), timestamp(now - 1_000))).toEqual({ kind: 'pending' });
    expect(await board.takeKey(request('k'), timestamp(now - 3_600_000))).toEqual({ kind: 'answer_lost' });
  });

  test('a refusal without a change frees the key; after a change it is kept, and a fault never is', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    const refusal = { status: 409, body: '{}\n' };
    const [refused, changed, broken] = [request('a'), request('b'), request('c')];
    await board.takeKey(refused, now);
    await board.keepAnswer(refused, refusal);
    expect(await keysOn(place)).toEqual([]);
    await board.takeKey(changed, now);
    await newTask(lentBoard(board, changed), { title: 'One' });
    await board.keepAnswer(changed, refusal);
    expect(await board.takeKey(request('b'), now)).toEqual({ kind: 'answered', answer: refusal });
    await board.takeKey(broken, now);
    await newTask(lentBoard(board, broken), { title: 'Two' });
    await board.keepAnswer(broken, { status: 503, body: '{}\n' });
    expect(await board.takeKey(request('c'), now)).toEqual({ kind: 'pending' });
  });

  test('two connections that take one key at once carry out one request', async () => {
    await using place = await newPlace(engine);
    const boards = [await place.open(), await place.open()];
    const done = await Promise.allSettled(
      boards.map(async (board) => {
        const own = request('k');
        const taken = await board.takeKey(own, now);
        if (taken.kind !== 'taken') return;
        await newTask(lentBoard(board, own), { title: 'Once' });
      }),
    );
    expect(done.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await boards[0]?.tasks({ order: 'urgent' })).toHaveLength(1);
  });

  test('answers are kept for a day, and never more or larger ones than the limits say', async () => {
    await using place = await newPlace(engine);
    await (await place.open()).close();
    const policy = { ...defaultPolicy, keptAnswers: { ...defaultPolicy.keptAnswers, most: 3, bytes: 100 } };
    const board = await openBoard(place.address, policy, { id: 'x', at: 0 });
    try {
      const keep = async (id: string, at: number, bytes: number) => {
        const own = request(id);
        await board.takeKey(own, timestamp(now + at));
        await newTask(lentBoard(board, own), { title: id });
        await board.keepAnswer(own, { status: 201, body: 'x'.repeat(bytes) });
      };
      for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) await keep(id, at, 10);
      expect(await keysOn(place)).toEqual(['b', 'c', 'd']);
      await keep('e', 5, 95);
      await keep('f', 6, 1);
      expect(await keysOn(place)).toEqual(['e', 'f']);
      await keep('g', 6 + forMs, 1);
      expect(await keysOn(place)).toEqual(['g']);
    } finally {
      await board.close();
    }
  });
});
