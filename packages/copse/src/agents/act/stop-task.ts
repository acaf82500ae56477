/**
 * A person pauses or cancels a task. The board is changed first: from then on the session's token is stale. The runner notices,
 * ends the agent and exits; processes that remain after a grace time are ended here.
 */

import type { AttemptId, TaskId } from '../../kernel/ids.ts';
import type { NamedProcess } from '../../kernel/process.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { decideCancel, decidePause } from '../../tasks/rules/decisions.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { endSession } from '../../tasks/act/end-session.ts';
import { endAttempt } from './recover.ts';
import { settleCheckout } from '../../queue/act/settle-checkout.ts';
import type { RunContext } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { leaveStopped } from '../../workspaces/act/checkout/prepare-elsewhere.ts';
import { dropShared } from '../../workspaces/discard/drop-shared.ts';

export interface Stopped {
  readonly task: Task;
  /** Processes that could not be ended. */
  readonly remaining: readonly NamedProcess[];
  /** It runs on another node, and the runner there ends it. */
  readonly isElsewhere: boolean;
}

export async function pauseTask(context: RunContext, id: TaskId): Promise<Outcome<Stopped>> {
  return stopTask(context, id, async (change, task) => {
    await change.apply(decidePause(task, change.at));
    return { action: 'interrupt', because: 'paused' };
  });
}

export async function cancelTask(
  context: RunContext,
  id: TaskId,
  reason: string | null,
): Promise<Outcome<Stopped>> {
  await settleCheckout(context, id);
  const stopped = await stopTask(context, id, async (change, task) => {
    const landing =
      task.state.status === 'landing' ? await change.require('landing', task.state.landing) : undefined;
    await change.apply(decideCancel(task, landing, reason, change.at));
    return { action: 'cancel' };
  });
  // The orchestrators tidy up what cannot be removed now.
  if (stopped.kind === 'done') await dropShared(context, [id]);
  return stopped;
}

async function stopTask(
  context: RunContext,
  id: TaskId,
  decide: (change: Change, task: Task) => Promise<Parameters<typeof endSession>[2]>,
): Promise<Outcome<Stopped>> {
  const workspace = await workspaceOf(context, id);
  const stopped = await change(context, async (change) => {
    const task = await change.require('task', id);
    const request = await decide(change, task);
    const attempt = await endSession(change, task, request);
    const node = task.state.status === 'in_progress' ? task.state.claim.node : null;
    return { task: await change.require('task', id), attempt, node };
  });
  if (stopped.kind === 'refused') return stopped;
  const { task, attempt, node } = stopped.value;
  if (attempt !== undefined && node !== context.node)
    return { kind: 'done', value: { task, remaining: [], isElsewhere: true } };
  const remaining = attempt === undefined ? [] : await waitForEnd(context, id, attempt.id);
  // Only now: until here its agent could still write files.
  if (workspace !== undefined) await leaveStopped(context, workspace);
  return { kind: 'done', value: { task, remaining, isElsewhere: false } };
}

/** Gives the runner time first, because it lets the agent's program save its conversation. */
export async function waitForEnd(
  context: RunContext,
  task: TaskId,
  id: AttemptId,
): Promise<readonly NamedProcess[]> {
  const { board, clock, occupancy, policy } = context;
  const isOver = async () => {
    const runner = (await board.get('attempt', id))?.process;
    return !runner || !(await occupancy.isAlive(runner));
  };
  const until = clock.elapsedMs() + policy.session.stopGraceMs * 2;
  while (!(await isOver()) && clock.elapsedMs() < until) await clock.sleep(policy.session.stopLookMs);
  return endAttempt(context, task, id);
}
