/** A runner that has not renewed its lease: it was killed, or its machine slept. */

import type { Policy } from '../../kernel/policy.ts';
import { spanText } from '../../kernel/time.ts';

type Leases = Pick<Policy, 'lease'>;

export function isLapsed(silentMs: number, { lease }: Leases): boolean {
  return silentMs > lease.durationMs;
}

export function lapsedText(silentMs: number, { lease }: Leases): string {
  return `Its runner has not been heard from for ${spanText(silentMs)} (lease: ${spanText(lease.durationMs)}).`;
}
