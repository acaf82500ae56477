/** Follows the board's events as they are recorded, by any process. */

import type { RecordedEvent } from './rules/event.ts';
import { type EventNumber, type TaskId, brand } from '../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import type { Board } from './port.ts';
import { type BoardTerm, type LostEvents, moveOn } from './rules/term.ts';

export interface FollowOptions {
  readonly after: EventNumber;
  /** Of `after`; by default the current one. */
  readonly term?: number;
  /** The board has another server, which lacks events that were followed already. */
  readonly onLost?: (lost: LostEvents) => void | Promise<void>;
  /** The board has another server: all its terms, before anything of the last one is told. */
  readonly onTerms?: (terms: readonly BoardTerm[]) => void;
  readonly task?: TaskId | undefined;
  readonly signal: AbortSignal;
  readonly policy: Policy['board'];
}

/**
 * Every event after the given one, in order, until the signal aborts. On a server that lacks the end, the numbers of lost events
 * come again with other events: those are told too.
 */
export async function* followEvents(board: Board, options: FollowOptions): AsyncGenerator<RecordedEvent> {
  const { signal, policy, task } = options;
  let { after, term } = options;
  let wake: () => void = () => {};
  // Subscribed before the first read, so that no event in between is missed.
  const subscription = await board.onChange(() => wake());
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      for (;;) {
        const page = await board.eventPage({ ...defaultPolicy.eventPage, after, ...(task && { task }) });
        // Read after the page: no event of a term is there before the term.
        const terms = await board.terms();
        term ??= terms.at(-1)?.term ?? 1;
        const moved = moveOn({ term, number: after }, terms);
        if (moved.cursor.term !== term) options.onTerms?.(terms);
        term = moved.cursor.term;
        if (moved.lost !== null) {
          await options.onLost?.(moved.lost);
          after = brand<EventNumber>(moved.cursor.number);
          continue;
        }
        for (const recorded of page.events) {
          after = recorded.number;
          yield recorded;
        }
        if (!page.hasMore) break;
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
    // It may have aborted while an event was being handled: then nothing is told any more.
    if (signal.aborted) resolve();
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  await Promise.race([woken, otherwise]);
  stop();
}
