/** Puts on the board what is special about how changes were merged, before they land: afterwards nobody could tell. */

import type { LandingId } from '../../kernel/ids.ts';
import { type Landing, decideLanding, isCommitted } from '../rules/landing.ts';
import { change } from '../../board/context.ts';
import { type Lead, requireLead } from './leadership.ts';
import type { RunContext } from '../context.ts';

export interface MergedChange {
  readonly landing: LandingId;
  /** What resolved its conflict, for example. */
  readonly note: string | null;
}

/** Writes only what is not known yet. Whatever left the queue meanwhile is left to whoever lands the others. */
export async function noteMerges(
  context: RunContext,
  lead: Lead,
  merged: readonly MergedChange[],
): Promise<void> {
  const notes = new Map(merged.map(({ landing, note }) => [landing, note]));
  const noteOf = ({ id }: Landing) => notes.get(id) ?? null;
  const landings = await context.board.openLandings();
  const changed = landings.filter((one) => notes.has(one.id) && noteOf(one) !== (one.note ?? null));
  if (changed.length === 0) return;
  await change(context, async (change) => {
    await requireLead(change, lead);
    for (const one of changed) {
      const current = await change.require('landing', one.id);
      if (current.head !== one.head || isCommitted(current)) continue;
      await change.apply(decideLanding(current, { action: 'note', note: noteOf(one) }, change.at));
    }
  });
}
