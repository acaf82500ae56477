/** Recorded events, loaded page by page. */

import { defaultPolicy } from '../kernel/policy.ts';
import type { RecordedEvent } from './rules/event.ts';
import type { BoardReader, EventQuery } from './port.ts';

export async function* eventsSoFar(
  board: BoardReader,
  query: Omit<EventQuery, 'limit'>,
): AsyncGenerator<RecordedEvent> {
  for (let { after } = query; ;) {
    const { events, hasMore } = await board.eventPage({ ...query, ...defaultPolicy.eventPage, after });
    yield* events;
    const final = events.at(-1);
    if (final === undefined || !hasMore) return;
    after = final.number;
  }
}
