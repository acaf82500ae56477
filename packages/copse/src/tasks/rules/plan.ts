/** A plan: a document that groups tasks and explains why. */

import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import type { PlanId, Timestamp } from '../../kernel/ids.ts';

export interface Plan {
  readonly id: PlanId;
  readonly title: string;
  readonly body: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

type Of<T extends string> = EventHead<T, PlanId>;

export type PlanEvent =
  | (Of<'plan.added'> & Pick<Plan, 'title' | 'body'>)
  | (Of<'plan.edited'> & { readonly changes: Partial<Pick<Plan, 'title' | 'body'>> });

export function evolvePlan(plan: Plan | undefined, event: PlanEvent): Plan {
  if (event.type === 'plan.added') {
    mustBeNew(plan, event);
    const { id, title, body, at } = event;
    return { id, title, body, createdAt: at, updatedAt: at };
  }
  return { ...existing(plan, event), ...event.changes, updatedAt: event.at };
}
