/**
 * How agents did, week by week, from the events of the board: attempts, crashes, stuck tasks, tasks that need attention,
 * handbacks and automatic restarts. What happens to a task counts for the agent that held it last; work by hand is left out.
 */

import type { BoardEvent, EventType } from '../../board/rules/event.ts';
import type { AgentName, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Claim } from '../../tasks/rules/task.ts';

export const statNames = ['attempts', 'crashes', 'stuck', 'attention', 'handbacks', 'restarts'] as const;
export type StatName = (typeof statNames)[number];
export type Stats = Readonly<Record<StatName, number>>;

export interface StatsRow extends Stats {
  /** The day on which the week begins. */
  readonly week: string;
  readonly agent: AgentName;
}

/** All that `StatsCount` has to see, from the first event on: a claim may be older than what it explains. */
export const countedTypes = [
  'task.claimed',
  'task.resumed',
  'task.restarted',
  'task.handed_back',
  'task.crashed',
  'task.stuck',
  'task.needs_attention',
  'task.deleted',
] as const satisfies readonly EventType[];

export class StatsCount {
  readonly #since: Timestamp;
  readonly #weekOf: (at: Timestamp) => string;
  readonly #holders = new Map<TaskId, AgentName | null>();
  readonly #rows = new Map<string, { week: string; agent: AgentName } & Record<StatName, number>>();

  /** `weekOf`: in the caller's time zone, in a form that sorts. */
  constructor(since: Timestamp, weekOf: (at: Timestamp) => string) {
    this.#since = since;
    this.#weekOf = weekOf;
  }

  see(event: BoardEvent): void {
    switch (event.type) {
      case 'task.claimed':
      case 'task.resumed':
        return this.#hold(event.id, event.claim, event.at);
      case 'task.restarted':
        if (event.automatic !== undefined) this.#count(event.id, 'restarts', event.at);
        return event.grant === null ? undefined : this.#hold(event.id, event.grant.claim, event.at);
      case 'task.handed_back':
        this.#count(event.id, 'handbacks', event.at);
        return event.grant === null ? undefined : this.#hold(event.id, event.grant.claim, event.at);
      case 'task.crashed':
        return this.#count(event.id, 'crashes', event.at);
      case 'task.stuck':
        return this.#count(event.id, 'stuck', event.at);
      case 'task.needs_attention':
        return this.#count(event.id, 'attention', event.at);
      case 'task.deleted':
        this.#holders.delete(event.id);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The latest week first, then by agent. */
  rows(): readonly StatsRow[] {
    return [...this.#rows.values()].toSorted((one, other) =>
      one.week === other.week ? (one.agent < other.agent ? -1 : 1) : one.week < other.week ? 1 : -1,
    );
  }

  #hold(task: TaskId, { agent, isByHand }: Claim, at: Timestamp): void {
    this.#holders.set(task, isByHand ? null : agent);
    this.#count(task, 'attempts', at);
  }

  #count(task: TaskId, what: StatName, at: Timestamp): void {
    const agent = this.#holders.get(task) ?? null;
    if (agent === null || at < this.#since) return;
    const week = this.#weekOf(at);
    const key = `${week} ${agent}`;
    const row = this.#rows.get(key) ?? { week, agent, ...none() };
    this.#rows.set(key, row);
    row[what] += 1;
  }
}

export function sumOf(rows: readonly StatsRow[]): Stats {
  const total = none();
  for (const row of rows) for (const name of statNames) total[name] += row[name];
  return total;
}

function none(): Record<StatName, number> {
  return { attempts: 0, crashes: 0, stuck: 0, attention: 0, handbacks: 0, restarts: 0 };
}
