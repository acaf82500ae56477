/**
 * Sums of what agents used, from the `session.used` events. The dollars of a session are unknown when its program never
 * reports them; a sum that includes such a session is a lower bound.
 */

import { type EventNumber, type PlanId, type Timestamp, brand } from '../../kernel/ids.ts';
import { type Usage, addUsage, noUsage, tokensOf } from '../../kernel/usage.ts';
import type { Context } from '../../board/context.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';

export const costGroups = ['task', 'agent', 'day', 'agent_day'] as const;
export type CostGroup = (typeof costGroups)[number];

export interface CostQuery {
  readonly by: CostGroup;
  readonly since: Timestamp | null;
  readonly plan: PlanId | null;
  /** The day in the caller's time zone, in a form that sorts. */
  readonly dayOf: (at: Timestamp) => string;
}

export interface Cost {
  /** Dollars are null when no session reported any. */
  readonly usage: Usage;
  /** Whether a session in it reports no dollars. */
  readonly isUnknownInPart: boolean;
  readonly sessions: number;
}

export interface CostRow extends Cost {
  /** The id of a task, the name of an agent, a day, or a day and after a space the name of an agent. */
  readonly key: string;
  /** Null for agents, days and deleted tasks. */
  readonly title: string | null;
}

export interface Costs {
  readonly rows: readonly CostRow[];
  readonly total: Cost;
}

export async function loadCosts({ board }: Context, query: CostQuery): Promise<Costs> {
  const { by, since, plan, dayOf } = query;
  const sessions = new Map((await board.list('session')).map((session) => [session.id, session]));
  const inPlan = plan === null ? null : await board.tasks({ plan, order: 'recent' });
  const wanted = inPlan && new Set(inPlan.map(({ id }) => id));
  const sums = new Map<string, Sum>();
  const total = new Sum();
  const after = brand<EventNumber>(0);
  for await (const { event } of eventsSoFar(board, { after, types: ['session.used'] })) {
    const session = event.type === 'session.used' ? sessions.get(event.id) : undefined;
    if (event.type !== 'session.used' || session === undefined) continue;
    if ((since !== null && event.at < since) || (wanted && !wanted.has(session.task))) continue;
    const { task, agent } = session;
    const day = dayOf(event.at);
    const key = { task, agent, day, agent_day: `${day} ${agent}` }[by];
    const sum = sums.get(key) ?? new Sum();
    sums.set(key, sum);
    // Events during a turn have no dollars yet: only a session without any is unknown.
    const isUnknown = session.usage.dollars === null;
    for (const one of [sum, total]) one.add(session.id, event.usage, isUnknown);
  }
  const rows: CostRow[] = [];
  for (const [key, sum] of sums) {
    const title = by === 'task' ? ((await board.get('task', key))?.title ?? null) : null;
    rows.push({ key, title, ...sum.cost() });
  }
  return { rows: rows.toSorted(by === 'day' || by === 'agent_day' ? byKey : byCost), total: total.cost() };
}

class Sum {
  #usage = noUsage;
  #isUnknownInPart = false;
  readonly #sessions = new Set<string>();

  add(session: string, usage: Usage, isUnknown: boolean): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#isUnknownInPart ||= isUnknown;
    this.#sessions.add(session);
  }

  cost(): Cost {
    return {
      usage: this.#usage,
      isUnknownInPart: this.#isUnknownInPart,
      sessions: this.#sessions.size,
    };
  }
}

function byKey(one: CostRow, other: CostRow): number {
  return one.key < other.key ? -1 : 1;
}

/** Highest dollars first, then most tokens. */
function byCost(one: CostRow, other: CostRow): number {
  return (
    (other.usage.dollars ?? 0) - (one.usage.dollars ?? 0) ||
    tokensOf(other.usage) - tokensOf(one.usage) ||
    byKey(one, other)
  );
}
