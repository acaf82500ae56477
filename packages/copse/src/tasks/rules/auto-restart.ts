/**
 * Automatic restarts of tasks that stopped because of failures (`policy.max_stuck_restarts`):
 *
 *   stuck, by Copse and not by a limit                             restarted
 *   needs_attention, because its agent failed the gate or checks   restarted
 *   a question of its agent, a conflict, a budget, finished work that could not be pushed or landed,
 *   files that cannot be read, work by hand                        left to a person
 *
 * A restart makes the task ready, so the limits of the orchestrator hold. `autoRestarts` counts them until a person restarts or
 * resumes the task. Two machines restart once: the second finds it ready. `failed` is the limit of retries, and stays.
 */

import type { EndReason } from '../../agents/rules/session/session.ts';
import { backoffMs } from '../../kernel/backoff.ts';
import { type Decision, decided, refused } from '../../kernel/decision.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { TaskEvent } from './events.ts';
import { type AttentionCause, type Task, refuseUnlessAllowed } from './task.ts';

export interface RestartFacts {
  /** How its last session ended; null: it had none, or it still lives. */
  readonly lastEnd: EndReason | null;
  /** No attempt of an agent belongs to its last session. */
  readonly isByHand: boolean;
}

export type PlannedRestart =
  | { readonly kind: 'none' }
  /** It was restarted as often as the policy allows. */
  | { readonly kind: 'used_up'; readonly of: number }
  | { readonly kind: 'planned'; readonly number: number; readonly of: number; readonly at: Timestamp };

type StoppedTask = Pick<Task, 'state' | 'autoRestarts'>;

export function planRestart(task: StoppedTask, facts: RestartFacts, policy: Policy['retry']): PlannedRestart {
  const { maxStuckRestarts: of, firstBackoffMs: firstMs, maxBackoffMs: mostMs } = policy;
  const done = task.autoRestarts ?? 0;
  if (of === 0 || !mayRestart(task) || facts.isByHand || facts.lastEnd === 'over_budget')
    return { kind: 'none' };
  if (done >= of) return { kind: 'used_up', of };
  const number = done + 1;
  const at = (task.state.since + backoffMs(number, { firstMs, mostMs })) as Timestamp;
  return { kind: 'planned', number, of, at };
}

/** By its state alone; the facts may still rule it out. */
export function mayRestart({ state }: Pick<Task, 'state'>): boolean {
  if (state.status === 'stuck') return state.isByCopse ?? false;
  return state.status === 'needs_attention' && state.resolver === undefined && isAgentsFailure[state.because];
}

/** Finished work that could not land is not worked on again: a person merges it. */
const isAgentsFailure: Readonly<Record<AttentionCause, boolean>> = {
  dirty: true,
  nothing_committed: true,
  no_artifact: true,
  not_imported: true,
  branch: true,
  commit_message: true,
  accept: true,
  checks: true,
  unfit: true,
  conflict: false,
  push: false,
  landing: false,
  unreadable: false,
};

export function decideAutoRestart(
  task: Task,
  facts: RestartFacts,
  policy: Policy['retry'],
  at: Timestamp,
): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'restart_automatically');
  if (refusal) return refusal;
  const plan = planRestart(task, facts, policy);
  if (plan.kind !== 'planned' || plan.at > at)
    return refused('too_early', `${task.id} is not restarted automatically now.`, `copse why ${task.id}`);
  const automatic = { number: plan.number, of: plan.of };
  return decided({ type: 'task.restarted', id: task.id, at, grant: null, automatic });
}
