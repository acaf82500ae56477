/**
 * Renews the lease of an attempt while its agent works, and tells when it is lost: another attempt holds the task, or a person
 * paused, cancelled or deleted it. An attempt without its lease writes nothing.
 *
 * An unreachable board is no loss for as long as the lease and its grace last: the agent works on, and the next answer shows
 * whether another attempt holds the task. After that the runner counts as cut off: another machine may have the task, so
 * this agent stops. A board that a newer Copse migrated is a loss at once: this runner can record nothing any more.
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

/** The board was away for longer than the lease and its grace. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
}

export async function keepLease(
  { board, clock, policy }: { readonly board: Board; readonly clock: Timer; readonly policy: Policy },
  task: TaskId,
  token: FencingToken,
): Promise<LeaseKeeper> {
  const lost = new AbortController();
  const stopped = new AbortController();
  const over = AbortSignal.any([lost.signal, stopped.signal]);
  // Counted while this process runs: one that was stopped asks the board before it counts as cut off.
  let silentMs = 0;
  const attempt = async <T>(ask: () => Promise<T>, isHeld: (answer: T) => boolean): Promise<void> => {
    try {
      const holds = isHeld(await ask());
      silentMs = 0;
      if (!holds && !stopped.signal.aborted) lost.abort();
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
  const { renewEveryMs, durationMs, cutOffLeases } = policy.lease;
  const watching = (async () => {
    let lookedMs = clock.elapsedMs();
    while (!over.aborted) {
      await clock.sleep(renewEveryMs, over);
      const nowMs = clock.elapsedMs();
      silentMs += Math.min(nowMs - lookedMs, 2 * renewEveryMs);
      lookedMs = nowMs;
      if (silentMs < durationMs * cutOffLeases || over.aborted) continue;
      const seconds = Math.round(silentMs / 1_000);
      lost.abort(new CutOff(`The board could not be reached for ${seconds} s, so its agent was stopped.`));
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
      await Promise.all([renewing, watching]);
    },
  };
}
