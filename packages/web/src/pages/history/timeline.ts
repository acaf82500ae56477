/**
 * The board as of any event, replayed from the first one. Worlds on the way are kept at even distances, at most `MOST_KEPT`, so that
 * a look far back replays little, and a long history takes no more memory than a short one.
 */

import { type RecordKind, kindOf } from '../../../../copse/src/board/rules/event.ts';
import { type NumberedEvent, type WorldAt, afterEvents, emptyWorld } from '../../store/world.ts';

/** Where events come from: a board, or a file. Numbers have no gaps. */
export interface EventSource {
  readonly name: string;
  readonly last: number;
  /** Some events after this number, in order; none at the end. */
  page(after: number, signal: AbortSignal): Promise<readonly NumberedEvent[]>;
}

export interface Moment extends WorldAt {
  /** The event that made it; undefined before the first. */
  readonly event: NumberedEvent | undefined;
}

/** What the page shows; the rest would only fill the memory. */
const SHOWN_KINDS: ReadonlySet<RecordKind> = new Set(['task', 'queue', 'node', 'plan']);

const MOST_KEPT = 24;
const FIRST_DISTANCE = 1_000;
const MOST_PAGES = 16;

export class Timeline {
  readonly source: EventSource;
  readonly #kept = new Map<number, WorldAt>([[0, emptyWorld]]);
  readonly #pages = new Map<number, readonly NumberedEvent[]>();
  #distance = FIRST_DISTANCE;

  constructor(source: EventSource) {
    this.source = source;
  }

  /** `onWay` hears how far it is. */
  async at(number: number, signal: AbortSignal, onWay: (number: number) => void): Promise<Moment> {
    const from = Math.max(...[...this.#kept.keys()].filter((one) => one <= number));
    let world = this.#kept.get(from) ?? emptyWorld;
    let event: NumberedEvent | undefined;
    // The last event is wanted too, so the page that has it is read again.
    let after = from === number && from > 0 ? from - 1 : from;
    while (after < number) {
      const page = await this.#page(after, signal);
      const wanted = page.filter((one) => one.number > after && one.number <= number);
      event = wanted.at(-1);
      if (event === undefined) break;
      const shown = wanted.filter((one) => SHOWN_KINDS.has(kindOf(one.event)));
      world = { ...afterEvents(world, shown), at: event.number };
      after = event.number;
      this.#keep(world);
      onWay(after);
    }
    return { ...world, event };
  }

  /** Pages begin at multiples of the distance, so that two looks share them. */
  async #page(after: number, signal: AbortSignal): Promise<readonly NumberedEvent[]> {
    const known = this.#pages.get(after);
    if (known !== undefined) return known;
    const page = await this.source.page(after, signal);
    this.#pages.set(after, page);
    const oldest = this.#pages.keys().next();
    if (this.#pages.size > MOST_PAGES && !oldest.done) this.#pages.delete(oldest.value);
    return page;
  }

  #keep(world: WorldAt): void {
    const nearest = Math.max(...[...this.#kept.keys()].filter((one) => one <= world.at));
    if (world.at - nearest < this.#distance) return;
    this.#kept.set(world.at, world);
    if (this.#kept.size <= MOST_KEPT) return;
    this.#distance *= 2;
    let before = 0;
    for (const number of [...this.#kept.keys()].toSorted((a, b) => a - b)) {
      if (number === 0) continue;
      if (number - before < this.#distance) this.#kept.delete(number);
      else before = number;
    }
  }
}
