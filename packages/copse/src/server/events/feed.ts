/**
 * The events of the board for all clients, from one follower. A client asks for what comes after its cursor and waits until it
 * has taken that, so a slow client costs no memory: older events are read from the board again.
 *
 * Invariants: recent events have consecutive numbers, the last of them is `latest`, the board lost none of them.
 */

import { loadEnd } from '../../board/end.ts';
import { followEvents } from '../../board/follow.ts';
import type { Board } from '../../board/port.ts';
import type { RecordedEvent } from '../../board/rules/event.ts';
import {
  type BoardTerm,
  type Cursor,
  type LostEvents,
  beginAfter,
  cursorText,
  moveOn,
} from '../../board/rules/term.ts';
import { type EventNumber, brand } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { eventView } from '../../operations/views/views.ts';
import { type FeedEvent, RecentEvents } from './recent-events.ts';

export type StreamNews =
  | { readonly kind: 'events'; readonly events: readonly [FeedEvent, ...FeedEvent[]] }
  /** The board's server was replaced, and lacks these. */
  | { readonly kind: 'lost'; readonly lost: LostEvents; readonly cursor: Cursor }
  /** Nothing happened for a while. */
  | { readonly kind: 'quiet' };

export interface StreamStart {
  readonly cursor: Cursor;
  readonly lost: LostEvents | null;
}

export interface FeedOptions {
  readonly policy: Pick<Policy, 'board' | 'server'>;
  readonly signal: AbortSignal;
  readonly onEvent: (event: RecordedEvent) => void;
}

export class Feed {
  readonly #board: Board;
  readonly #options: FeedOptions;
  readonly #recent: RecentEvents;
  #latest: Cursor;
  #terms: readonly BoardTerm[];
  readonly #waiting = new Set<() => void>();

  private constructor(board: Board, options: FeedOptions, latest: Cursor, terms: readonly BoardTerm[]) {
    this.#board = board;
    this.#options = options;
    this.#recent = new RecentEvents(options.policy.server);
    this.#latest = latest;
    this.#terms = terms;
  }

  static async open(board: Board, options: FeedOptions): Promise<Feed> {
    const { cursor, terms } = await loadEnd(board);
    return new Feed(board, options, cursor, terms);
  }

  get latest(): Cursor {
    return this.#latest;
  }

  /** Until the signal aborts; throws when the board cannot be followed any more. */
  async follow(): Promise<void> {
    const { policy, signal, onEvent } = this.#options;
    const events = followEvents(this.#board, {
      after: brand<EventNumber>(this.#latest.number),
      term: this.#latest.term,
      signal,
      policy: policy.board,
      onTerms: (terms) => {
        this.#terms = terms;
        this.#latest = { ...this.#latest, term: terms.at(-1)?.term ?? 1 };
      },
      onLost: ({ term, from }) => {
        this.#recent.clear();
        this.#latest = { term, number: from - 1 };
        this.#wakeAll();
      },
    });
    for await (const recorded of events) {
      const event = this.#feedEvent(recorded);
      this.#recent.push(event);
      this.#latest = event.cursor;
      onEvent(recorded);
      this.#wakeAll();
    }
  }

  async begin(after: { readonly term: number | undefined; readonly number: number }): Promise<StreamStart> {
    const number = Math.max(await this.#board.lastEvent(), this.#latest.number);
    return beginAfter(after, { term: this.#latest.term, number });
  }

  /** What comes after the cursor, when there is something; `quiet` after a while, and when the signal aborts. */
  async read(cursor: Cursor, signal: AbortSignal): Promise<StreamNews> {
    for (;;) {
      const lost = this.#lostBefore(cursor);
      if (lost !== undefined) return lost;
      if (signal.aborted) return { kind: 'quiet' };
      if (cursor.number < this.#latest.number) {
        const recent = this.#recent.after(cursor.number);
        const events = recent === undefined ? await this.#fromBoard(cursor) : this.#batch(recent);
        const [first, ...more] = events;
        if (first !== undefined) return { kind: 'events', events: [first, ...more] };
      }
      if (!(await this.#untilWoken(signal))) return { kind: 'quiet' };
    }
  }

  #lostBefore(cursor: Cursor): StreamNews | undefined {
    const moved = moveOn(cursor, this.#terms);
    return moved.lost === null ? undefined : { kind: 'lost', lost: moved.lost, cursor: moved.cursor };
  }

  async #fromBoard({ number }: Cursor): Promise<readonly FeedEvent[]> {
    const { term } = this.#latest;
    const { batchEvents: limit, batchBytes: mostBytes } = this.#options.policy.server;
    const after = brand<EventNumber>(number);
    const { events } = await this.#board.eventPage({ after, limit, mostBytes });
    // Read after the page: with another server, its numbers may mean other events than this feed knows.
    const terms = await this.#board.terms();
    if ((terms.at(-1)?.term ?? 1) !== term || this.#latest.term !== term) return [];
    return events.map((recorded) => this.#feedEvent(recorded));
  }

  #batch(events: readonly FeedEvent[]): readonly FeedEvent[] {
    const { batchEvents, batchBytes } = this.#options.policy.server;
    let bytes = 0;
    const end = events.findIndex(({ json }, index) => {
      bytes += json.length;
      return index > 0 && (index >= batchEvents || bytes > batchBytes);
    });
    return end === -1 ? events : events.slice(0, end);
  }

  #feedEvent(recorded: RecordedEvent): FeedEvent {
    const { term } = this.#latest;
    const cursor = { term, number: recorded.number };
    return { cursor, json: JSON.stringify({ cursor: cursorText(cursor), ...eventView(recorded) }) };
  }

  /** False after a while. */
  #untilWoken(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isWoken: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve(isWoken);
      };
      const wake = () => end(true);
      const timer = setTimeout(() => end(false), this.#options.policy.server.heartbeatMs);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }
}
