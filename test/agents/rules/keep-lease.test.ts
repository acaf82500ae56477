/** When an attempt without the board counts as cut off. */

import { expect, it } from 'vitest';

import { CutOff, type LeaseKeeper, keepLease } from '../../../packages/copse/src/agents/run/keep-lease.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import type { Timer } from '../../../packages/copse/src/kernel/clock.ts';
import { type TaskId, brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

const { durationMs, renewEveryMs, cutOffLeases } = defaultPolicy.lease;

const away = () => Promise.reject(new Error('The board is away'));
const awayBoard: Partial<Board> = {
  requireCurrent: away,
  renewLease: away,
  lease: away,
  onChange: () => Promise.resolve({ stop: () => Promise.resolve() }),
};

/** Time passes only when a test says so, and then every sleep ends. */
class TestClock implements Timer {
  #nowMs = 0;
  readonly #sleeping: (() => void)[] = [];

  now() {
    return timestamp(this.#nowMs);
  }

  elapsedMs() {
    return this.#nowMs;
  }

  sleep(_: number, signal?: AbortSignal) {
    return new Promise<void>((resolve) => {
      this.#sleeping.push(resolve);
      signal?.addEventListener('abort', () => resolve());
      if (signal?.aborted) resolve();
    });
  }

  async pass(ms: number) {
    this.#nowMs += ms;
    for (const wake of this.#sleeping.splice(0)) wake();
    // All that is woken goes on to its next sleep.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function withoutBoard(work: (keeper: LeaseKeeper, clock: TestClock) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const context = { board: awayBoard as Board, clock, policy: defaultPolicy };
  const keeper = await keepLease(context, brand<TaskId>('cp-0001'), fencingToken(1));
  await clock.pass(0);
  try {
    await work(keeper, clock);
  } finally {
    await keeper.stop();
  }
}

it('an attempt counts as cut off once the board is away for the lease and its grace', () =>
  withoutBoard(async ({ lost }, clock) => {
    const mostMs = durationMs * cutOffLeases;
    for (let passed = 0; passed < mostMs - renewEveryMs; passed += renewEveryMs)
      await clock.pass(renewEveryMs);
    expect(lost.aborted).toBe(false);
    await clock.pass(renewEveryMs);
    expect(lost.reason).toBeInstanceOf(CutOff);
  }));

it('the time for which its process was suspended does not count as the board being away', () =>
  withoutBoard(async ({ lost }, clock) => {
    await clock.pass(10 * durationMs);
    expect(lost.aborted).toBe(false);
    for (let passed = 0; passed < 10 * durationMs; passed += renewEveryMs) await clock.pass(renewEveryMs);
    expect(lost.reason).toBeInstanceOf(CutOff);
  }));
