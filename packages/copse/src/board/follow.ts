/** Follows the board's events as they are recorded, by any process. */

import type { RecordedEvent } from './rules/event.ts';
import type { EventNumber, TaskId } from '../kernel/ids.ts';
import type { Policy } from '../kernel/policy.ts';
import type { Board } from './port.ts';

const PAGE = 500;

export interface FollowOptions {
  readonly after: EventNumber;
  readonly task?: TaskId | undefined;
  readonly signal: AbortSignal;
  readonly policy: Policy['board'];
}

/** Every event after the given one, in order, until the signal aborts. */
export async function* followEvents(board: Board, options: FollowOptions): AsyncGenerator<RecordedEvent> {
  const { signal, policy, task } = options;
  let { after } = options;
  let wake: () => void = () => {};
  // Subscribed before the first read, so that no event in between is missed.
  const subscription = await board.onChange(() => wake());
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      for (;;) {
        const page = await board.events({ after, limit: PAGE, ...(task && { task }) });
        for (const recorded of page) {
          after = recorded.number;
          yield recorded;
        }
        if (page.length < PAGE) break;
      }
      await untilWoken(woken, signal, policy.followPollMs);
    }
  } finally {
    await subscription.stop();
  }
}

async function untilWoken(woken: Promise<void>, signal: AbortSignal, pollMs: number): Promise<void> {
  let stop: () => void = () => {};
  const otherwise = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, pollMs);
    const onAbort = () => resolve();
    signal.addEventListener('abort', onAbort);
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  await Promise.race([woken, otherwise]);
  stop();
}
