/**
 * Keeps the lease of an attempt while its agent works, and says when it is lost: another attempt has the task, or a person
 * paused, cancelled or deleted it. Whoever lost it changes nothing any more.
 *
 * A board that cannot be reached loses nothing by itself. The agent goes on; if somebody else took the task meanwhile, the
 * next answer says so.
 */

import type { FencingToken, TaskId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Board } from '../../board/port.ts';
import type { Timer } from '../../kernel/clock.ts';

export interface LeaseKeeper {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  stop(): Promise<void>;
}

export async function keepLease(
  { board, clock, policy }: { readonly board: Board; readonly clock: Timer; readonly policy: Policy },
  task: TaskId,
  token: FencingToken,
): Promise<LeaseKeeper> {
  const lost = new AbortController();
  const stopped = new AbortController();
  const over = AbortSignal.any([lost.signal, stopped.signal]);
  const attempt = async <T>(ask: () => Promise<T>, isHeld: (answer: T) => boolean): Promise<void> => {
    try {
      if (!isHeld(await ask()) && !stopped.signal.aborted) lost.abort();
    } catch {
      // The next one asks again.
    }
  };
  const renew = () =>
    attempt(
      () => board.renewLease(task, token, clock.now()),
      (answer) => answer.kind === 'renewed',
    );
  const look = () =>
    attempt(
      () => board.lease(task),
      (lease) => lease?.token === token,
    );

  const renewing = (async () => {
    while (!over.aborted) {
      await renew();
      await clock.sleep(policy.lease.renewEveryMs, over);
    }
  })();
  let isLooking = false;
  const subscription = await board.onChange(() => {
    if (isLooking || over.aborted) return;
    isLooking = true;
    void clock
      .sleep(policy.lease.lookAfterMs, over)
      .then(look)
      .finally(() => (isLooking = false));
  });
  return {
    lost: lost.signal,
    async stop() {
      stopped.abort();
      await subscription.stop();
      await renewing;
    },
  };
}
