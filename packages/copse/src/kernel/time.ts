import type { Timestamp } from './ids.ts';

/** As every document that leaves has it: UTC, in ISO 8601. */
export function time(at: Timestamp): string {
  return new Date(at).toISOString();
}
