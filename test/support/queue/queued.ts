/** Commits that wait in the queue as a finished task's branch would, without an agent that made them. */

import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type AgentName,
  type AttemptId,
  type BranchName,
  type CommitId,
  type LandingId,
  type PlanId,
  type SessionId,
  type TaskId,
  brand,
  drawId,
} from '../../../packages/copse/src/kernel/ids.ts';
import { decideResume } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { decideFinish } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { must } from '../records/tasks.ts';

export interface QueuedBranch {
  readonly title: string;
  readonly head: string;
  readonly target?: string;
  readonly priority?: string;
  readonly plan?: PlanId;
  /** It was begun although these are not done, as a board may have it that was brought together from two. */
  readonly dependsOn?: readonly TaskId[];
}

export async function queueCommit(
  context: RunContext,
  { title, head, target = 'main', dependsOn = [], ...definition }: QueuedBranch,
): Promise<TaskId> {
  const { id } = must(await addTask(context, { title, ...definition }));
  if (dependsOn.length > 0) await dependOn(context, id, dependsOn);
  must(await claimTask(context, id, claimantOf(context, brand<SessionId>(`se-${nameOf(context)}`))));
  await finish(context, id, { head, target });
  return id;
}

async function dependOn(context: RunContext, id: TaskId, dependsOn: readonly TaskId[]): Promise<void> {
  must(
    await change(context, (change) => {
      const of = { id, at: change.at, dependsOn, status: 'ready' } as const;
      return change.apply(decided({ type: 'task.dependencies_changed', ...of }));
    }),
  );
}

/** Something that landed, or was handed back, is worked on again by whoever worked on it before. */
export async function queueAgain(context: RunContext, id: TaskId, head: string): Promise<void> {
  must(
    await change(context, async (change) => {
      const task = await change.require('task', id);
      if (task.session === null) throw new Error(`Nobody worked on ${id}`);
      const claimant = claimantOf(context, task.session);
      await change.apply(decideResume(task, claimant, change.at, context.policy.lease));
    }),
  );
  await finish(context, id, { head, target: 'main' });
}

async function finish(
  context: RunContext,
  id: TaskId,
  { head, target }: { readonly head: string; readonly target: string },
): Promise<void> {
  must(
    await change(context, async (change) => {
      const task = await change.require('task', id);
      const finish = {
        kind: 'landing',
        landing: brand<LandingId>(`la-${nameOf(context)}`),
        target: brand<BranchName>(target),
        attempt: null,
        token: task.token,
        head: brand<CommitId>(head),
      } as const;
      await change.apply(decideFinish(task, task.token, finish, change.at));
    }),
  );
}

function claimantOf(context: RunContext, session: SessionId) {
  return {
    session,
    attempt: brand<AttemptId>(`at-${nameOf(context)}`),
    node: context.node,
    agent: brand<AgentName>('scripted'),
  };
}

function nameOf({ random }: RunContext): string {
  return drawId('', random);
}
