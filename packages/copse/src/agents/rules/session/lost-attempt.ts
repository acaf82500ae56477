/** Which attempt of a machine has work in its worktree that the machine still has to hand in. */

import type { NodeId } from '../../../kernel/ids.ts';
import type { Attempt } from '../../../tasks/rules/attempt.ts';
import type { Task, TaskStatus } from '../../../tasks/rules/task.ts';

/** In these, another machine works on it or may begin to. A finished head is on the remote already. */
const goesOn: Readonly<Record<TaskStatus, boolean>> = {
  pending: false,
  ready: true,
  in_progress: true,
  paused: true,
  stuck: true,
  in_review: false,
  landing: false,
  needs_attention: true,
  done: false,
  failed: true,
  cancelled: false,
};

/**
 * The last one that ran here, if its end was recorded while this machine could not be reached, or its last push failed. A
 * worktree that a session or a person uses now is not handed in for them.
 */
export function attemptToHandIn(
  task: Pick<Task, 'state' | 'discarded'>,
  attempts: readonly Attempt[],
  here: NodeId,
): Attempt | undefined {
  const { state, discarded } = task;
  if (!goesOn[state.status]) return undefined;
  if (state.status === 'in_progress' && state.claim.node === here) return undefined;
  const [last] = attempts
    .filter(({ node }) => node === here)
    .toSorted((one, other) => other.token - one.token);
  if (last === undefined || last.end === null || last.token <= (discarded?.upTo ?? -1)) return undefined;
  return last;
}
