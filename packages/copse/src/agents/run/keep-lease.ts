/**
 * Renews the lease of an attempt while its agent works, and tells when it is lost: another attempt holds the task, or a person
 * paused, cancelled or deleted it. An attempt without its lease writes nothing.
 *
 * An unreachable board is no loss: the agent works on, and the next answer shows whether another attempt holds the task. A
 * board that a newer Copse migrated is one: this runner can record nothing any more, and says so as the reason.
 */

import type { FencingToken, TaskId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type Board, BoardTooNew } from '../../board/port.ts';
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
    } catch (error) {
      if (error instanceof BoardTooNew) lost.abort(error);
      // Otherwise the board could not be reached; the next renewal asks again.
    }
  };
  const renew = () =>
    attempt(
      async () => {
        await board.requireCurrent();
        return board.renewLease(task, token, clock.now());
      },
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
