/** When a source is read next, as far as this page can know. Pure. */

import type { Timestamp } from '../../../../copse/src/kernel/ids.ts';
import type { OutputOf } from '../../api/operations.ts';

type Source = OutputOf<'source.list'>['sources'][number];

interface SourceTimes extends Pick<Source, 'syncedAt' | 'intervalMs' | 'problem'> {
  readonly rateLimit: Pick<NonNullable<Source['rateLimit']>, 'until'> | null;
}

export type NextRead =
  /** At the latest: a person or a webhook may cause it earlier. */
  | { readonly kind: 'by'; readonly at: string }
  | { readonly kind: 'overdue'; readonly at: string }
  | { readonly kind: 'after'; readonly at: string }
  | { readonly kind: 'retry' | 'first' };

export function nextRead(
  { syncedAt, intervalMs, problem, rateLimit }: SourceTimes,
  now: Timestamp,
): NextRead {
  const until = rateLimit?.until ?? null;
  if (until !== null && Date.parse(until) > now) return { kind: 'after', at: until };
  if (problem !== null) return { kind: 'retry' };
  if (syncedAt === null) return { kind: 'first' };
  const at = Date.parse(syncedAt) + intervalMs;
  return { kind: at > now ? 'by' : 'overdue', at: new Date(at).toISOString() };
}
