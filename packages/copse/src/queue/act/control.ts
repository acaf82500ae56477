/** What people do to a queue and its entries. Every change of the board wakes the leader, which acts on it. */

import type { BranchName, TaskId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import {
  type MergeQueue,
  type QueueSwitch,
  decidePauseQueue,
  decideResumeQueue,
  decideRetryQueue,
} from '../rules/merge-queue.ts';
import { decideHurry, decideSkipChecks, decideTryAgain } from '../rules/control.ts';
import { type Intervention, restartsBy } from '../rules/effect.ts';
import { type Task, isAllowed, refusedFor, statusPredicate, wrongStatus } from '../../tasks/rules/task.ts';
import { decideUnqueue } from '../../tasks/rules/outcomes.ts';
import { type Change, type Context, type Outcome, change } from '../../board/context.ts';
import { queueTask } from './merge.ts';
import { settleCheckout } from './settle-checkout.ts';
import { type QueueSettings, queueOf, queuedTasks } from './view.ts';
import type { RunContext } from '../context.ts';

export async function pauseQueue(
  context: Context,
  target: BranchName,
  { what, reason }: { readonly what: readonly QueueSwitch[]; readonly reason: string | null },
): Promise<Outcome<MergeQueue>> {
  return change(context, async (change) => {
    for (const one of what)
      await change.apply(decidePauseQueue(await queueOf(change.board, target), one, reason, change.at));
    return queueOf(change.board, target);
  });
}

/** Resumes those switches that are paused. */
export async function resumeQueue(
  context: Context,
  target: BranchName,
  what: readonly QueueSwitch[],
): Promise<Outcome<MergeQueue>> {
  return change(context, async (change) => {
    const { paused } = await queueOf(change.board, target);
    const closed = what.filter((one) => paused[one] !== null);
    for (const one of closed.length === 0 ? what.slice(0, 1) : closed)
      await change.apply(decideResumeQueue(await queueOf(change.board, target), one, change.at));
    return queueOf(change.board, target);
  });
}

/** All of them or none. */
export async function hurryTasks(
  context: Context,
  ids: readonly TaskId[],
): Promise<Outcome<readonly Landing[]>> {
  return change(context, (change) =>
    each(ids, async (id) => {
      const { landing } = await requireQueued(change, id);
      await change.apply(decideHurry(landing, change.at));
      return change.require('landing', landing.id);
    }),
  );
}

/** Back to review, each with its branch as it is. */
export async function unqueueTasks(
  context: RunContext,
  ids: readonly TaskId[],
  reason: string | null,
): Promise<Outcome<readonly Task[]>> {
  for (const id of ids) await settleCheckout(context, id);
  return change(context, (change) =>
    each(ids, async (id) => {
      const { task, landing } = await requireQueued(change, id);
      const why = { head: landing.head, reason: reason ?? 'a person took it out' };
      await change.apply(decideUnqueue(task, landing, why, change.at));
      return change.require('task', id);
    }),
  );
}

/** A person takes responsibility: they land without checks. */
export async function skipChecks(context: Context, ids: readonly TaskId[]): Promise<Outcome<null>> {
  return change(context, async (change) => {
    await each(ids, async (id) => {
      const { landing } = await requireQueued(change, id);
      if (!landing.isUnchecked) await change.apply(decideSkipChecks(landing, context.by, change.at));
    });
    return null;
  });
}

/**
 * Queues it again; a task that is in the queue is looked at again at once. The queue also retries checks that could not
 * run, and checks a red target again.
 */
export async function tryAgain(context: RunContext, id: TaskId): Promise<Outcome<Landing>> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'landing') {
    if (task && !isAllowed('merge', task.state.status))
      return wrongStatus(task, 'merge', `retry ${id} in the queue`);
    const queued = await queueTask(context, id);
    if (queued.kind === 'done') await change(context, (change) => retryQueue(change, queued.value.target));
    return queued;
  }
  return change(context, async (change) => {
    const { landing } = await requireQueued(change, id);
    await change.apply(decideTryAgain(landing, change.at));
    await retryQueue(change, landing.target);
    return change.require('landing', landing.id);
  });
}

async function retryQueue(change: Change, target: BranchName): Promise<void> {
  const retry = decideRetryQueue(await queueOf(change.board, target), change.at);
  if (retry !== null) await change.apply(retry);
}

/** How many running checks would restart. Changes nothing. */
export async function effectOf(
  { board, clock, policy }: Context,
  { checks, slots }: QueueSettings,
  kind: Intervention['kind'],
  ids: readonly TaskId[],
): Promise<number> {
  const open = await board.openLandings();
  let restarts = 0;
  for (const target of new Set(open.filter(({ task }) => ids.includes(task)).map((one) => one.target))) {
    const queue = await queueOf(board, target);
    const queued = await queuedTasks(
      board,
      open.filter((one) => one.target === target),
    );
    const entries = queued.map(({ landing }) => ({ landing, isHeld: landing.waiting !== null }));
    const landings = open.filter(({ task }) => ids.includes(task)).map(({ id }) => id);
    const hasChecks = Object.keys(checks).length > 0;
    const facts = { queue, entries, slots, hasChecks, now: clock.now() };
    restarts += restartsBy({ kind, landings }, facts, policy.landing);
  }
  return restarts;
}

async function requireQueued(
  change: Change,
  id: TaskId,
): Promise<{ readonly task: Task; readonly landing: Landing }> {
  const task = await change.require('task', id);
  if (task.state.status === 'landing')
    return { task, landing: await change.require('landing', task.state.landing) };
  const reason = `${id} is not in the queue: it ${statusPredicate(task.state.status)}.`;
  return change.refuse(refusedFor(task, reason));
}

async function each<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await work(one));
  return done;
}
