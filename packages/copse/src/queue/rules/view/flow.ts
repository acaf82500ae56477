/**
 * How work flowed, day by day, from the events of the board: what landed, from its creation to its landing (lead time), and from the
 * queue to its landing (queue time).
 */

import type { BoardEvent, EventType } from '../../../board/rules/event.ts';
import type { LandingId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import { quantile } from './history.ts';

/** All that `FlowCount` has to see, from the first event on. */
export const flowTypes = [
  'task.created',
  'landing.queued',
  'landing.landed',
] as const satisfies readonly EventType[];

export interface FlowDay {
  readonly day: string;
  readonly landed: number;
  readonly leadP50Ms: number;
  readonly leadP95Ms: number;
  readonly queueP50Ms: number;
  readonly queueP95Ms: number;
}

export class FlowCount {
  readonly #since: Timestamp;
  readonly #dayOf: (at: Timestamp) => string;
  readonly #created = new Map<TaskId, Timestamp>();
  readonly #queued = new Map<LandingId, { readonly task: TaskId; readonly at: Timestamp }>();
  readonly #days = new Map<string, { readonly leadMs: number[]; readonly queueMs: number[] }>();

  constructor(since: Timestamp, dayOf: (at: Timestamp) => string) {
    this.#since = since;
    this.#dayOf = dayOf;
  }

  see(event: BoardEvent): void {
    if (event.type === 'task.created') this.#created.set(event.id, event.at);
    if (event.type === 'landing.queued') this.#queued.set(event.id, event);
    if (event.type === 'landing.landed') this.#land(event.id, event.at);
  }

  /** Days on which something landed, the oldest first. */
  days(): readonly FlowDay[] {
    return [...this.#days]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([day, { leadMs, queueMs }]) => ({
        day,
        landed: queueMs.length,
        leadP50Ms: quantile(leadMs, 0.5),
        leadP95Ms: quantile(leadMs, 0.95),
        queueP50Ms: quantile(queueMs, 0.5),
        queueP95Ms: quantile(queueMs, 0.95),
      }));
  }

  #land(landing: LandingId, at: Timestamp): void {
    const queued = this.#queued.get(landing);
    this.#queued.delete(landing);
    if (queued === undefined || at < this.#since) return;
    const day = this.#dayOf(at);
    const of = this.#days.get(day) ?? { leadMs: [], queueMs: [] };
    this.#days.set(day, of);
    of.queueMs.push(Math.max(0, at - queued.at));
    of.leadMs.push(Math.max(0, at - (this.#created.get(queued.task) ?? queued.at)));
  }
}
