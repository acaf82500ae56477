/** Loads the queues of all targets, as people see them, from the board. */

import type { BranchName, TaskId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { type MergeQueue, newQueue } from '../rules/merge-queue.ts';
import { historyTypes, recentOf, type runHistoryTypes } from '../rules/view/history.ts';
import { type EntryView, type QueueRecord, type QueueView, viewQueue } from '../rules/view/view.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Config } from '../../config/schema.ts';
import type { Context } from '../../board/context.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';
import { queueResource } from '../lead/leadership.ts';
import { byPlace } from '../lead/entries.ts';
import type { LookContext } from '../context.ts';
import { checkText } from '../lead/checks.ts';

export type QueueSettings = Pick<Config['landing'], 'checks' | 'slots'>;

/** Without a node and its processes, recorded checks count as running while the queue has a leader. */
export type ViewContext = Pick<Context, 'board' | 'clock' | 'policy'> &
  Partial<Pick<LookContext, 'isLedHere' | 'node' | 'occupancy'>> & {
    readonly git?: Pick<LookContext['git'], 'stillUncommitted'>;
  };

/** With `runHistoryTypes` a view has the checks that ended. */
type HistoryTypes = typeof historyTypes | typeof runHistoryTypes;

/** Every target with open landings, and those in `also`. */
export async function loadQueues(
  context: ViewContext,
  settings: QueueSettings,
  also: readonly BranchName[] = [],
  types: HistoryTypes = historyTypes,
): Promise<readonly QueueView[]> {
  const open = await context.board.openLandings();
  const targets = new Set([...open.map(({ target }) => target), ...also]);
  const views: QueueView[] = [];
  for (const target of targets) views.push(await loadQueue(context, settings, target, { open, types }));
  return views;
}

export async function loadQueue(
  context: ViewContext,
  settings: QueueSettings,
  target: BranchName,
  { open, types = historyTypes }: { readonly open?: readonly Landing[]; readonly types?: HistoryTypes } = {},
): Promise<QueueView> {
  const { board, clock, policy } = context;
  const landings = (open ?? (await board.openLandings())).filter((one) => one.target === target);
  const waitOf = waitsNow(context);
  const queued = await queuedTasks(board, landings);
  const entries: QueueRecord[] = [];
  for (const { landing, task } of queued)
    entries.push({
      landing: { ...landing, waiting: landing.waiting && (await waitOf(landing.waiting)) },
      title: task.title,
      dependsOn: await unmetDependency(board, task),
    });
  const recorded = await queueOf(board, target);
  const stalled = recorded.stalled && (await waitOf(recorded.stalled.reason));
  const queue = { ...recorded, stalled: stalled && { since: recorded.stalled.since, reason: stalled } };
  const lost = await lostRuns(context, queue);
  const records = {
    queue,
    lost,
    entries,
    recent: recentOf(await recentEvents(context, types), target),
    isLed: lost.size === 0 && (await isLed(context, target)),
    commands: Object.entries(settings.checks).map(([name, { command }]) => checkText(name, command)),
    slots: settings.slots,
    now: clock.now(),
  };
  return viewQueue(records, policy.landing);
}

function waitsNow(context: ViewContext): (reason: WaitReason) => Promise<WaitReason | null> {
  const seen = new Map<string, Promise<WaitReason | null>>();
  return (reason) => {
    const key = JSON.stringify(reason);
    const now = seen.get(key) ?? waitNow(context, reason);
    seen.set(key, now);
    return now;
  };
}

/**
 * Null when it is over: a person may have committed or stashed their changes since a leader recorded it. Only such a wait
 * costs a look at the checkout. On a board of several machines the checkout may be on another one.
 */
export async function waitNow({ board, git }: ViewContext, reason: WaitReason): Promise<WaitReason | null> {
  if (reason.kind !== 'checkout_changed' || git === undefined || board.engine !== 'sqlite') return reason;
  const files = await stillInTheWay(git, reason.checkout, reason.files);
  return files.length === 0 ? null : { ...reason, files };
}

async function stillInTheWay(
  git: NonNullable<ViewContext['git']>,
  checkout: string,
  files: readonly string[],
): Promise<readonly string[]> {
  try {
    return await git.stillUncommitted(checkout, files);
  } catch {
    // It cannot be read now: what a leader recorded stays.
    return files;
  }
}

/** Where one task stands; undefined when it is in no queue. */
export async function loadPlace(
  context: ViewContext,
  settings: QueueSettings,
  { target, task }: Pick<Landing, 'target' | 'task'>,
): Promise<{ readonly queue: QueueView; readonly entry: EntryView } | undefined> {
  const queue = await loadQueue(context, settings, target);
  const entry = queue.entries.find((one) => one.task === task);
  return entry && { queue, entry };
}

export async function queueOf(board: BoardReader, target: BranchName): Promise<MergeQueue> {
  return (await board.get('queue', target)) ?? newQueue(target);
}

/** In the order of landing. */
export async function queuedTasks(
  board: BoardReader,
  landings: readonly Landing[],
): Promise<readonly { readonly landing: Landing; readonly task: Task }[]> {
  const queued: { landing: Landing; task: Task }[] = [];
  for (const landing of landings) {
    const task = await board.get('task', landing.task);
    if (task?.state.status === 'landing' && task.state.landing === landing.id) queued.push({ landing, task });
  }
  return queued.toSorted(byPlace);
}

async function unmetDependency(board: BoardReader, { dependsOn }: Task): Promise<TaskId | null> {
  if (dependsOn.length === 0) return null;
  const statuses = await board.statuses(dependsOn);
  return dependsOn.find((id) => (statuses.get(id) ?? 'done') !== 'done') ?? null;
}

async function recentEvents({ board, policy }: ViewContext, types: HistoryTypes) {
  const after = Math.max(0, (await board.lastEvent()) - policy.landing.recentEvents);
  const events = [];
  for await (const { event } of eventsSoFar(board, { after: after as never, types })) events.push(event);
  return events;
}

/** Runs of this node whose process has ended. Of other nodes only the lead's lease tells. */
async function lostRuns(
  { node, occupancy }: ViewContext,
  { runs }: MergeQueue,
): Promise<ReadonlySet<number>> {
  const lost = new Set<number>();
  if (occupancy === undefined) return lost;
  for (const { run, process, node: at } of runs)
    if (process && at === node && !(await occupancy.isAlive(process))) lost.add(run);
  return lost;
}

/**
 * A leader renews its lead regularly. Only shown: of another machine the time is by its clock, and a command that looks once
 * cannot observe silence. Who may lead is decided by leadership.ts alone.
 */
async function isLed({ board, clock, node, isLedHere }: ViewContext, target: BranchName): Promise<boolean> {
  const resource = await board.get('resource', queueResource(target));
  if (resource === undefined || resource.holder === null || (resource.heldUntil ?? 0) <= clock.now())
    return false;
  // Killed, it did not give its lead back.
  return resource.holder !== node || isLedHere === undefined || isLedHere(target);
}
