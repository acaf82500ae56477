/**
 * The time by which the trash grows old. A clock that jumps ahead by days would empty the trash at once, for good, so a jump
 * counts only after it has held for hours. An absence of days looks the same, and costs these hours.
 */

import type { Timestamp } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';

export interface TrashClock {
  /** Of the last look. */
  readonly at: Timestamp;
  /** The time before and after a jump that has not held yet. */
  readonly jump: { readonly from: Timestamp; readonly to: Timestamp } | null;
}

export interface TrashLook {
  readonly trusted: Timestamp;
  readonly memory: TrashClock;
}

/** Undefined: the first look, which has nothing to compare the time with. */
export function trustClock(
  memory: TrashClock | undefined,
  now: Timestamp,
  { clockJumpMs, clockHeldMs }: Pick<Policy['maintenance'], 'clockJumpMs' | 'clockHeldMs'>,
): TrashLook {
  const follow = { trusted: now, memory: { at: now, jump: null } };
  if (memory === undefined) return follow;
  const { at, jump } = memory;
  const isJump = now - at > clockJumpMs;
  if (jump === null && !isJump) return follow;
  const from = jump?.from ?? at;
  const to = jump === null || isJump ? now : jump.to < now ? jump.to : now;
  // The clock was set right, or what looked like a jump has held.
  if (now - from <= clockJumpMs || now - to >= clockHeldMs) return follow;
  return { trusted: from, memory: { at: now, jump: { from, to } } };
}
