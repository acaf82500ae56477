/**
 * Since when each lead is unchanged, as this process saw it on its monotonic clock. Clocks of machines differ and jump, so
 * no time that another machine wrote says whether it lives. A new process knows nothing and waits for a whole lead.
 */

import type { FencingToken, ResourceName } from '../../kernel/ids.ts';

interface Seen {
  readonly token: FencingToken;
  readonly sinceMs: number;
  /** This process took it. */
  readonly isOwn: boolean;
}

export class LeadSilence {
  readonly #seen = new Map<ResourceName, Seen>();

  /** Milliseconds since this process first saw the lead with this token. */
  see(id: ResourceName, token: FencingToken, nowMs: number): number {
    const before = this.#seen.get(id);
    if (before?.token === token) return nowMs - before.sinceMs;
    this.#seen.set(id, { token, sinceMs: nowMs, isOwn: false });
    return 0;
  }

  take(id: ResourceName, token: FencingToken, nowMs: number): void {
    this.#seen.set(id, { token, sinceMs: nowMs, isOwn: true });
  }

  /** Milliseconds since this process took the lead with this token; infinite if another process did. */
  sinceTaken(id: ResourceName, token: FencingToken, nowMs: number): number {
    const seen = this.#seen.get(id);
    return seen?.isOwn && seen.token === token ? nowMs - seen.sinceMs : Infinity;
  }

  /** What this process took and did not give back. */
  get own(): readonly { readonly id: ResourceName; readonly token: FencingToken }[] {
    return [...this.#seen].flatMap(([id, { token, isOwn }]) => (isOwn ? [{ id, token }] : []));
  }

  forget(id: ResourceName): void {
    this.#seen.delete(id);
  }
}
