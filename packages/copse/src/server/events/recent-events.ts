/** The last events of the present term, with consecutive numbers: a limited number of limited size. */

import type { Cursor } from '../../board/rules/term.ts';
import type { Policy } from '../../kernel/policy.ts';

export interface FeedEvent {
  readonly cursor: Cursor;
  /** The view of the event. */
  readonly json: string;
}

export class RecentEvents {
  readonly #limits: Pick<Policy['server'], 'recentEvents' | 'recentBytes'>;
  #events: FeedEvent[] = [];
  #bytes = 0;

  constructor(limits: Pick<Policy['server'], 'recentEvents' | 'recentBytes'>) {
    this.#limits = limits;
  }

  push(event: FeedEvent): void {
    this.#events.push(event);
    this.#bytes += event.json.length;
    const { recentEvents, recentBytes } = this.#limits;
    if (this.#events.length <= recentEvents && this.#bytes <= recentBytes) return;
    // Cut to a half: a cut at every event would move all of them each time.
    let from = this.#events.length;
    let bytes = 0;
    while (from > 0 && this.#events.length - from < recentEvents / 2) {
      bytes += this.#events[from - 1]?.json.length ?? 0;
      if (bytes > recentBytes / 2) break;
      from -= 1;
    }
    this.#events = this.#events.slice(from);
    this.#bytes = this.#events.reduce((sum, { json }) => sum + json.length, 0);
  }

  /** Undefined: some of them are not here any more. */
  after(number: number): readonly FeedEvent[] | undefined {
    const first = this.#events[0]?.cursor.number;
    return first === undefined || number + 1 < first ? undefined : this.#events.slice(number + 1 - first);
  }

  clear(): void {
    this.#events = [];
    this.#bytes = 0;
  }
}
