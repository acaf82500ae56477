import type { Timestamp } from './ids.ts';
import { HOUR, MINUTE, SECOND } from './limits.ts';

/** UTC in ISO 8601, as in every document that leaves Copse. */
export function time(at: Timestamp): string {
  return new Date(at).toISOString();
}

/** A duration for people: `800 ms`, `12 s`, `3 min`, `1 h 20 min`. */
export function spanText(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < 2 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  const minutes = Math.round(ms / MINUTE);
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}
