/** Recorded events, loaded page by page. */

import type { RecordedEvent } from './rules/event.ts';
import type { BoardReader, EventQuery } from './port.ts';

const PAGE = 500;

export async function* eventsSoFar(
  board: BoardReader,
  query: Omit<EventQuery, 'limit'>,
): AsyncGenerator<RecordedEvent> {
  for (let { after } = query; ;) {
    const page = await board.events({ ...query, after, limit: PAGE });
    yield* page;
    const final = page.at(-1);
    if (final === undefined || page.length < PAGE) return;
    after = final.number;
  }
}
