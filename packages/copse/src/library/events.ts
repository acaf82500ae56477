/** The events of the board for a program, each with the cursor after which it may go on. */

import type { Context } from '../board/context.ts';
import { loadEnd } from '../board/end.ts';
import { followEvents } from '../board/follow.ts';
import { type LostEvents, beginAfter, cursorText, lostText, parseCursor } from '../board/rules/term.ts';
import { type EventNumber, brand } from '../kernel/ids.ts';
import { fail } from '../operations/failure.ts';
import { eventView } from '../operations/views/views.ts';
import type { CopseEvent, EventsOptions } from './copse.ts';

/** Until the signal aborts. */
export async function* eventsOf(
  { board, policy }: Pick<Context, 'board' | 'policy'>,
  { after = 0, onLost }: EventsOptions,
  signal: AbortSignal,
): AsyncGenerator<CopseEvent> {
  const wanted = parseCursor(String(after));
  if (wanted === undefined)
    fail('invalid', `after must be the cursor of an event, not ${JSON.stringify(after)}.`, 'copse events');
  const tellLost = (lost: LostEvents) => {
    if (onLost === undefined) fail('unavailable', lostText(lost), 'read the tasks again, and give onLost');
    onLost({ from: lost.from, to: lost.to });
  };
  const { cursor, lost } = beginAfter(wanted, (await loadEnd(board)).cursor);
  if (lost !== null) tellLost(lost);
  let { term } = cursor;
  const followed = followEvents(board, {
    after: brand<EventNumber>(cursor.number),
    term,
    signal,
    policy: policy.board,
    onTerms: (terms) => (term = terms.at(-1)?.term ?? term),
    onLost: tellLost,
  });
  for await (const recorded of followed) {
    if (signal.aborted) return;
    yield { cursor: cursorText({ term, number: recorded.number }), ...eventView(recorded) };
  }
}
