/** Moments as people see them. */

/** A time for people, in the zone of this browser; the day only if it is not today. */
export function momentText(iso: string): string {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return isToday ? time : `${at.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })} ${time}`;
}

const SEEN_AFTER_MS = 1_000;

/**
 * Whether a person can have seen what is on the page since `sinceMs`. A click or a key that comes sooner was meant for what was there
 * before. Both are times of `performance.now()`.
 */
export function canBeSeen(sinceMs: number, atMs: number): boolean {
  return atMs - sinceMs >= SEEN_AFTER_MS;
}
