/**
 * Who gets a change back that the queue cannot land. The first line that applies decides:
 *
 *   its check timed out                          a person: the machine may be too slow, so no handback is used up
 *   a conflict of two tasks, `on_conflict: task` a resolver: a new task that resolves the conflict
 *   a conflict, `on_conflict: task` or `skip`    a person
 *   its agent can be asked                       its agent, in the same conversation
 *   otherwise                                    a person
 *
 * A resolver's own conflicts go to its agent whatever `on_conflict` says: no resolver gets a resolver. While a person
 * waits for the landing in a terminal, no agent and no resolver is asked: that person gets everything back.
 */

import { type AgentName, type LandingId, brand } from '../../kernel/ids.ts';
import type { HandbackCause } from '../../tasks/rules/outcomes.ts';
import type { Task } from '../../tasks/rules/task.ts';

/** A cause of the queue. `isTimeout`: a check took too long, twice. */
export type QueueCause = HandbackCause & { readonly isTimeout: boolean };

export interface HandbackFacts {
  /** A cause without `with` has no other side: no resolver could bring two sides together. */
  readonly cause: Pick<QueueCause, 'because' | 'with' | 'isTimeout'>;
  readonly onConflict: 'handback' | 'task' | 'skip';
  readonly isResolver: boolean;
  /** The agent that worked on it, if it is configured here. */
  readonly agent: AgentName | null;
  /** A person waits in a terminal for this landing. */
  readonly isPersonWaiting: boolean;
}

export type Recipient =
  | { readonly kind: 'agent'; readonly agent: AgentName }
  | { readonly kind: 'resolver' }
  | { readonly kind: 'person' };

export function decideRecipient(facts: HandbackFacts): Recipient {
  const { cause, onConflict, isResolver, agent, isPersonWaiting } = facts;
  if (isPersonWaiting || cause.isTimeout) return { kind: 'person' };
  const isForAgent = cause.because !== 'conflict' || onConflict === 'handback' || isResolver;
  if (isForAgent) return agent === null ? { kind: 'person' } : { kind: 'agent', agent };
  return { kind: onConflict === 'task' && cause.with !== undefined ? 'resolver' : 'person' };
}

/** The source of a resolver's work item, whose id is the landing that conflicted. */
export const CONFLICT_SOURCE = 'conflict';

/** The landing whose conflict a task is there to resolve; undefined for every other task. */
export function landingToResolve({ workItem }: Pick<Task, 'workItem'>): LandingId | undefined {
  return workItem?.source === CONFLICT_SOURCE ? brand<LandingId>(workItem.id) : undefined;
}
