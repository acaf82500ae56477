/** The entries of a queue in the order of landing, with the reason why they are held and the files in conflict. */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId, EventNumber } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { MergeQueue } from '../rules/merge-queue.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import type { QueueEntry } from '../rules/decide/decide.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { methodFor } from './build-candidate.ts';
import { detailOf, isFaultOfMachine } from '../rules/failures.ts';
import type { QueueMemory } from './memory.ts';
import type { RunContext } from '../context.ts';

interface Looking {
  readonly tip: CommitId;
  readonly memory: QueueMemory;
  readonly hasChecks: boolean;
}

export async function queueEntries(
  context: RunContext,
  queue: MergeQueue,
  landings: readonly Landing[],
  looking: Looking,
): Promise<readonly QueueEntry[]> {
  const queued: { landing: Landing; task: Task }[] = [];
  for (const landing of landings) {
    const task = await context.board.get('task', landing.task);
    if (task?.state.status === 'landing' && task.state.landing === landing.id) queued.push({ landing, task });
  }
  const entries: QueueEntry[] = [];
  for (const { landing, task } of queued.toSorted(byPlace)) {
    const found = await tryToFindConflict(context, landing, task, looking);
    entries.push({
      landing: landing.id,
      task: landing.task,
      head: landing.head,
      queuedAt: landing.queuedAt,
      isHotfix: landing.isHotfix,
      isUnchecked: landing.isUnchecked,
      conflict: found.conflict,
      held: (await unmetDependency(context, task)) ?? notAccepted(queue, landing) ?? found.held,
    });
  }
  return entries;
}

interface QueuedTask {
  readonly landing: Landing;
  readonly task: Pick<Task, 'priority'>;
}

/** Hotfixes first, then by priority, then first come first served; ids break ties the same way on every machine. */
export function byPlace(a: QueuedTask, b: QueuedTask): number {
  return (
    Number(b.landing.isHotfix) - Number(a.landing.isHotfix) ||
    b.task.priority - a.task.priority ||
    a.landing.queuedAt - b.landing.queuedAt ||
    (a.landing.id < b.landing.id ? -1 : 1)
  );
}

/** What is wrong with one change holds only that one. */
async function tryToFindConflict(
  ...[context, landing, task, looking]: Parameters<typeof conflictOf>
): Promise<Pick<QueueEntry, 'conflict' | 'held'>> {
  try {
    return { conflict: await conflictOf(context, landing, task, looking), held: null };
  } catch (error) {
    if (isFaultOfMachine(error)) throw error;
    return { conflict: null, held: { kind: 'landing_failed', detail: detailOf(error) } };
  }
}

/** Without checks, landing merges everything anyway and finds conflicts then. */
async function conflictOf(
  { merging, ...context }: RunContext,
  landing: Landing,
  task: Task,
  { tip, memory, hasChecks }: Looking,
): Promise<readonly string[] | null> {
  const { id, head } = landing;
  if (memory.unsound.has(head)) return [];
  const misfit = memory.candidates.misfit(tip, { landing: id, task: landing.task, head });
  if (misfit !== undefined) return 'files' in misfit ? misfit.files : [];
  if (!hasChecks) return null;
  const key = `${tip} ${head}`;
  const known = memory.conflicts.get(key);
  const method = await methodFor({ merging, ...context }, task);
  const files = known ?? (await merging.trial(tip, head, method)).conflicts;
  if (memory.conflicts.size > MOST) memory.conflicts.clear();
  memory.conflicts.set(key, files);
  if (files.length === 0) return null;
  // Building the candidate may resolve the conflict.
  const change = { landing: id, task: landing.task, head };
  await memory.candidates.find({ onto: tip, changes: [change] });
  return memory.candidates.misfit(tip, change) === undefined ? null : files;
}

const MOST = defaultPolicy.mergeMemory.entries;

/** A dependency that was done before is on the target, also if it is worked on again. */
async function unmetDependency({ board }: RunContext, { dependsOn }: Task): Promise<WaitReason | null> {
  if (dependsOn.length === 0) return null;
  const statuses = await board.statuses(dependsOn);
  for (const id of dependsOn) {
    const status = statuses.get(id) ?? 'done';
    if (status === 'done') continue;
    const [before] = await board.events({ after: NOTHING_YET, limit: 1, task: id, types: ['task.done'] });
    if (before === undefined) return { kind: 'dependency', task: id, status };
  }
  return null;
}

const NOTHING_YET = 0 as EventNumber;

function notAccepted({ paused }: MergeQueue, { queuedAt }: Landing): WaitReason | null {
  if (paused.accept === null || queuedAt < paused.accept.since) return null;
  return { kind: 'not_accepted', comment: paused.accept.reason };
}
