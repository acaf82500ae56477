/** Rate limits of sources. A server may name any end, and a wrong clock makes every end wrong: none holds for long. */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

const { mostLimitedMs } = defaultPolicy.sources;

export function bounded(until: Timestamp, now: Timestamp): Timestamp {
  return timestamp(Math.min(until, now + mostLimitedMs));
}

/** Until when no request is sent; null: requests are allowed, also when a wrong clock computed the end. */
export function limitedUntil(
  limit: { readonly until: Timestamp | null } | null,
  now: Timestamp,
): Timestamp | null {
  const until = limit?.until ?? null;
  return until !== null && until > now && until <= now + mostLimitedMs ? until : null;
}
