/** One process and its connections to PostgreSQL, with the faults of a network between them. */

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import { type Board, BoardAway, CommitUnknown } from '../../../packages/copse/src/board/port.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { newTask } from '../../support/records/tasks.ts';
import { type Fault, Proxy } from '../support/proxy.ts';

/** All waits of the connection a tenth as long: the order of events is the same. */
const limits = {
  ...defaultPolicy.database,
  connectMs: 500,
  lockMs: 400,
  statementMs: 600,
  idleInTransactionMs: 3_000,
  answerMs: 800,
  secondLookMs: 50,
  listenEveryMs: 200,
  closeMs: 100,
  settleMs: 1_000,
};

let proxy: Proxy;
let url: string;
let board: Board;

beforeEach(async () => {
  const direct = `${inject('postgresUrl')}?schema=t_${randomBytes(6).toString('hex')}`;
  proxy = await Proxy.to(direct);
  url = proxy.through(direct);
  board = await open();
});

afterEach(async () => {
  await board.close();
  await proxy[Symbol.asyncDispose]();
});

function open(through = url): Promise<Board> {
  const address = { engine: 'postgres', url: through } as const;
  return openBoard(address, defaultPolicy, { id: randomUUID(), at: Date.now() }, { limits });
}

const titles = async (of: Board) => (await of.tasks({ order: 'urgent' })).map(({ title }) => title);

const faults: readonly Fault['kind'][] = ['blackhole', 'half-open', 'cut', 'refuse'];

describe.each(faults)('when connections %s', (kind) => {
  it('a question fails as away, and the next one after the fault is answered', async () => {
    await newTask(board, { title: 'Before' });
    await proxy.apply({ kind } as Fault);
    await expect(failure(board.lastEvent())).resolves.toBeInstanceOf(BoardAway);
    await proxy.heal();
    expect(await titles(board)).toEqual(['Before']);
  });

  it('a listener is woken for what it missed', async () => {
    const other = await open(inject('postgresUrl') + new URL(url).search);
    let wakes = 0;
    const subscription = await board.onChange(() => (wakes += 1));
    await proxy.apply({ kind } as Fault);
    await newTask(other, { title: 'Meanwhile' });
    // Longer than two signs of life: it notices that its connection is dead.
    await setTimeout(limits.listenEveryMs * 3);
    await proxy.heal();
    await expect.poll(() => wakes, { timeout: 10_000 }).toBeGreaterThan(0);
    const before = wakes;
    await newTask(other, { title: 'Afterwards' });
    await expect.poll(() => wakes, { timeout: 10_000 }).toBeGreaterThan(before);
    await subscription.stop();
    await other.close();
  });

  it('closing does not wait for an answer', async () => {
    const subscription = await board.onChange(() => {});
    const asked = failure(board.lastEvent());
    await proxy.apply({ kind } as Fault);
    const hanging = failure(board.lastEvent());
    const began = performance.now();
    await subscription.stop();
    await board.close();
    expect(performance.now() - began).toBeLessThan(5_000);
    await asked;
    expect(await hanging).toBeInstanceOf(Error);
    await proxy.heal();
    board = await open();
  });
});

async function failure(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** As the protocol ends a statement; others name a setting of this name. */
const COMMIT = 'commit\0';

describe('a commit whose answer is lost', () => {
  // promise: recorded-once
  it.each(['cut', 'half-open'] as const)('counts when the server did it (%s)', async (kind) => {
    const fired = proxy.when({ text: COMMIT, at: 'after', fault: { kind: 'blackhole' } });
    const adding = newTask(board, { title: 'Once' });
    await fired;
    await setTimeout(100);
    await proxy.apply({ kind });
    await proxy.heal();
    expect((await adding).title).toBe('Once');
    expect(await titles(board)).toEqual(['Once']);
  });

  it('is repeated when the server never got it', async () => {
    const fired = proxy.when({ text: COMMIT, at: 'before', fault: { kind: 'cut' } });
    const adding = newTask(board, { title: 'Once' });
    await fired;
    expect((await adding).title).toBe('Once');
    expect(await titles(board)).toEqual(['Once']);
  });

  // promise: recorded-once
  it('is repeated only when the server can no longer get it', async () => {
    // The network holds the commit back, and lets it through when the change was repeated.
    const fired = proxy.when({ text: COMMIT, at: 'before', fault: { kind: 'stall' } });
    const adding = newTask(board, { title: 'Once' });
    await fired;
    expect((await adding).title).toBe('Once');
    await proxy.heal();
    await setTimeout(100);
    expect(await titles(board)).toEqual(['Once']);
  });

  it('fails as away while the server is away, and can be settled later', async () => {
    const fired = proxy.when({ text: COMMIT, at: 'after', fault: { kind: 'blackhole' } });
    const adding = failure(newTask(board, { title: 'Once' }));
    await fired;
    const error = await adding;
    expect(error).toBeInstanceOf(CommitUnknown);
    await proxy.heal();
    expect(await (error as CommitUnknown).settle()).toBe('committed');
    expect(await titles(board)).toEqual(['Once']);
  });

  // promise: recorded-once
  it('is not taken for that of another transaction, which got its id after the server was killed', async () => {
    const fired = proxy.when({ text: COMMIT, at: 'after', fault: { kind: 'blackhole' } });
    const adding = failure(newTask(board, { title: 'Lost' }));
    await fired;
    const error = await adding;
    // The server lost what it had not yet written to its disk, and has committed something else under this id.
    const admin = new pg.Client({ connectionString: inject('postgresUrl') });
    await admin.connect();
    await admin.query(`delete from ${new URL(url).searchParams.get('schema')}.events`);
    await admin.end();
    await proxy.heal();
    expect(await (error as CommitUnknown).settle()).toBe('rolled_back');
  });
});

it('leaves no lock behind when a client vanishes in a transaction', async () => {
  const { id } = await newTask(board, { title: 'Locked' });
  const vanishing = failure(
    board.transact(async (transaction) => {
      await transaction.get('task', id);
      await proxy.apply({ kind: 'blackhole' });
      await transaction.get('task', id);
    }),
  );
  expect(await vanishing).toBeInstanceOf(BoardAway);
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const schema = new URL(url).searchParams.get('schema');
  const locked = async () =>
    (
      await admin.query(
        `select 1 from pg_locks join pg_class on pg_class.oid = relation join pg_namespace n on n.oid = relnamespace
         where nspname = $1`,
        [schema],
      )
    ).rowCount;
  await expect.poll(locked, { timeout: 10_000 }).toBe(0);
  await admin.end();
  await proxy.heal();
});
