/**
 * Keeps the world of this page at the board's: a snapshot, then every event after its number. After a cut it goes on from the
 * last number it has; events that the board lost, or that this page cannot read, make it begin anew with a snapshot.
 *
 * Invariant: events come from one socket. A newer attempt to connect ends the one before.
 */

import { type ViewedEvent, readEventView } from '../../../copse/src/operations/views/data-view.ts';
import type { Client } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import {
  LeftOut,
  type NumberedEvent,
  type WorldAt,
  afterEvents,
  emptyWorld,
  worldOfSnapshot,
} from './world.ts';

export type Connection = 'connecting' | 'live' | 'away' | 'refused';

type Frame =
  | ({ readonly cursor: string; readonly number: number } & ViewedEvent)
  | { readonly cursor: string; readonly lost: unknown }
  | { readonly at: string };

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** The server says every 15 s that it is there. A machine that slept may hear of no close. */
const SILENT_MS = 40_000;
/** A person who comes back to the page waits for less. */
const SILENT_WHEN_SEEN_MS = 20_000;
const LOOK_MS = 5_000;
const ANSWER_WITHIN_MS = 60_000;
/** Tries that are skipped before a new snapshot: a page of an older version may not know an event that comes often. */
const UNREADABLE_TRIES = 4;

/** `isAnew`: the records were replaced by a snapshot. */
type Listener = (events: readonly NumberedEvent[], isAnew: boolean) => void;

export class Live {
  readonly #client: Client;
  readonly #listeners = new Set<Listener>();
  #now: WorldAt = emptyWorld;
  #connection: Connection = 'connecting';
  #changedAtMs = 0;
  #cursor: string | undefined;
  #isRead = false;
  #problem: Problem | undefined;
  #waiting: NumberedEvent[] = [];
  #socket: WebSocket | undefined;
  /** The present attempt to connect. */
  #attempt: object | undefined;
  #heardMs = 0;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  readonly #ended = new AbortController();

  constructor(client: Client) {
    this.#client = client;
  }

  get now(): WorldAt {
    return this.#now;
  }

  /** When the last events came: what was read before may be out of date. */
  get changedAtMs(): number {
    return this.#changedAtMs;
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Before the first snapshot an empty world says nothing about the board. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Why the server gave no snapshot or no ticket; undefined while it is followed. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Hears of new events, at most once for each frame of the screen, and of changes of the connection (no events). */
  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { signal } = this.#ended;
    addEventListener('online', () => this.hurry(), { signal });
    // The connection may be to this very machine, and go on: it is retried at once.
    const onOffline = () => {
      if (this.#connection === 'live') this.#later();
    };
    addEventListener('offline', onOffline, { signal });
    const onSeen = () => {
      // A frame that was asked for while the page was seen comes only when it is seen again.
      if (document.visibilityState === 'hidden') this.#apply();
      else this.#leaveSilent(SILENT_WHEN_SEEN_MS);
      if (document.visibilityState === 'visible') this.hurry();
    };
    document.addEventListener('visibilitychange', onSeen, { signal });
    const looks = setInterval(() => this.#leaveSilent(SILENT_MS), LOOK_MS);
    signal.addEventListener('abort', () => clearInterval(looks));
    void this.#connect();
  }

  /** The server refused the token: a person goes on from there, with another one of these. */
  refused(): void {
    this.#ended.abort();
    clearTimeout(this.#retry);
    this.#attempt = undefined;
    this.#say('refused');
    this.#socket?.close();
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#retry);
    const attempt = (this.#attempt = {});
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    try {
      if (this.#cursor === undefined) {
        const snapshot = await this.#client.snapshot(signal);
        if (this.#attempt !== attempt) return;
        const isAnew = this.#now !== emptyWorld;
        this.#now = worldOfSnapshot(snapshot);
        this.#changedAtMs = Date.now();
        this.#cursor = snapshot.cursor;
        this.#isRead = true;
        // Shown at once, without waiting for the socket.
        this.#tell([], isAnew);
      }
      const ticket = await this.#client.ticket(signal);
      if (this.#attempt === attempt) this.#open(ticket, this.#cursor);
    } catch (error) {
      if (this.#attempt !== attempt) return;
      this.#problem = error instanceof Problem ? error : undefined;
      this.#later();
    }
  }

  #open(ticket: string, after: string): void {
    const address = new URL('/api/v1/stream', location.href);
    address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    address.search = new URLSearchParams({ ticket, after }).toString();
    const socket = new WebSocket(address);
    this.#socket?.close();
    this.#socket = socket;
    this.#heardMs = Date.now();
    socket.addEventListener('open', () => {
      if (this.#socket !== socket) return;
      this.#tries = 0;
      this.#problem = undefined;
      this.#say('live');
    });
    socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
      if (this.#socket === socket) this.#read(data);
    });
    socket.addEventListener('close', () => {
      if (this.#socket === socket) this.#later();
    });
  }

  #read(text: string): void {
    this.#heardMs = Date.now();
    const frame = JSON.parse(text) as Frame;
    if ('at' in frame && !('type' in frame)) return;
    if ('lost' in frame) {
      this.#beginAnew();
      return;
    }
    this.#cursor = frame.cursor;
    if (this.#waiting.length === 0) nextFrame(() => this.#apply());
    this.#waiting.push({ number: frame.number, event: readEventView(frame) });
  }

  #apply(): void {
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    try {
      this.#now = afterEvents(this.#now, events);
    } catch (error) {
      if (!(error instanceof LeftOut)) {
        console.error('The page begins anew: it cannot read an event.', error);
        this.#tries = UNREADABLE_TRIES;
      }
      this.#beginAnew();
      return;
    }
    this.#changedAtMs = Date.now();
    this.#tell(events);
  }

  #beginAnew(): void {
    this.#cursor = undefined;
    this.#waiting = [];
    this.#later();
  }

  #leaveSilent(longestMs: number): void {
    if (this.#connection === 'live' && Date.now() - this.#heardMs > longestMs) this.#later();
  }

  #later(): void {
    if (this.#connection === 'refused') return;
    clearTimeout(this.#retry);
    this.#attempt = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#say('away');
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries);
    this.#tries += 1;
    this.#retry = setTimeout(() => void this.#connect(), wait);
  }

  /** Tries again now, not after the wait. */
  hurry(): void {
    if (this.#connection !== 'away') return;
    this.#tries = 0;
    void this.#connect();
  }

  #say(connection: Connection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    this.#tell([]);
  }

  #tell(events: readonly NumberedEvent[], isAnew = false): void {
    for (const listener of this.#listeners)
      try {
        listener(events, isAnew);
      } catch (error) {
        // The others must not miss these events, which do not come again.
        reportError(error);
      }
  }
}

/** A hidden page has no frames. */
function nextFrame(run: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(run);
  else setTimeout(run, 100);
}
