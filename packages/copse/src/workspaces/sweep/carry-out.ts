/**
 * Carries a plan out, one thing after another.
 *
 * - Each thing is looked at and decided about once more, under the lock of its task where it has one, right before it goes.
 * - A worktree leaves through the gate (discard/remove.ts), a branch from the tip that was seen, after its commits have a ref.
 * - A kill between any two steps leaves things that the next sweep finds and finishes. A failure keeps its thing and no other.
 */

import { BoardAway } from '../../board/port.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { workspaceOf } from '../act/context.ts';
import { branchRef, keepTip } from '../discard/rescue-first.ts';
import { dropListed, listShared } from '../discard/drop-shared.ts';
import { type BranchFate, removeWorkspace } from '../discard/remove.ts';
import {
  decideBranch,
  decideLogs,
  decideTranscripts,
  decideTrash,
  sweepRequest,
} from '../rules/sweep/plan.ts';
import type {
  FoundBranch,
  FoundLogs,
  FoundSession,
  FoundSnapshot,
  FoundTrash,
  FoundWorktree,
  GoingItem,
  SweepVerdict,
} from '../rules/sweep/things.ts';
import { trashTime } from './trash-time.ts';
import type { SweepContext } from './context.ts';
import { findSessions, importsOf, lookAtTrash } from './look.ts';
import { lookAtBranch } from './look-branches.ts';
import { ofTask, ownersOf } from './owners.ts';

export type SweptFate =
  /** `keptUnder`: the refs that hold its content now. */
  | { readonly kind: 'removed'; readonly keptUnder: readonly string[]; readonly notes: readonly string[] }
  | { readonly kind: 'kept' | 'failed'; readonly reason: string };

export interface SweptItem {
  readonly item: GoingItem;
  readonly fate: SweptFate;
}

export type OnStep = (step: string) => void;

export async function carryOut(context: SweepContext, item: GoingItem, onStep: OnStep): Promise<SweptItem> {
  try {
    return { item, fate: await remove(context, item, onStep) };
  } catch (error) {
    if (error instanceof BoardAway) throw error;
    return { item, fate: { kind: 'failed', reason: error instanceof Error ? error.message : String(error) } };
  }
}

function remove(context: SweepContext, item: GoingItem, onStep: OnStep): Promise<SweptFate> {
  const { found } = item;
  const isForBudget = item.isForBudget === true;
  switch (found.kind) {
    case 'worktree':
      return removeWorktree(context, found.is, onStep);
    case 'branch':
      return removeBranch(context, found.is, onStep);
    case 'trash':
      return removeTrash(context, found.is, isForBudget, onStep);
    case 'session':
      return removeTranscripts(context, found.is, isForBudget, onStep);
    case 'logs':
    case 'artifacts':
      return removeLogs(context, found.is, isForBudget, onStep);
    case 'snapshot':
      return removeSnapshot(context, found.is, onStep);
    case 'record':
      return Promise.resolve(keptAs('Copse did not make it.'));
    default:
      return unreachable(found);
  }
}

async function removeWorktree(
  context: SweepContext,
  found: FoundWorktree,
  onStep: OnStep,
): Promise<SweptFate> {
  const { board, policy } = context;
  const { task, since } = found;
  const workspace = await workspaceOf(context, task);
  const now = await ofTask(context, await board.get('task', task), workspace);
  if (now.since !== since) return keptAs(CHANGED);
  const removed = await removeWorkspace(context, task, sweepRequest(found, policy), onStep);
  if (removed.kind === 'question') return keptAs(removed.question);
  if (removed.kind !== 'removed') return keptAs(removed.reason);
  const { rescue, trashed, branch, becameOfBranch, notes } = removed;
  const tip = becameOfBranch === 'deleted' ? trashed?.record.branchTip : undefined;
  const kept = tip == null ? [] : (await context.rescues.kept()).filter(({ commit }) => commit === tip);
  return {
    kind: 'removed',
    keptUnder: [...(rescue === null ? [] : [rescue]), ...kept.slice(0, 1).map(({ ref }) => ref)],
    notes: [...(branch === null ? [] : [`Its branch ${branch} ${fates[becameOfBranch]}.`]), ...notes],
  };
}

const fates: Readonly<Record<BranchFate, string>> = {
  kept: 'stays',
  deleted: 'is deleted',
  gone: 'was gone already',
};

async function removeBranch(context: SweepContext, found: FoundBranch, onStep: OnStep): Promise<SweptFate> {
  const { board, clock, git, policy } = context;
  const { task, branch, tip } = found;
  const ownerOf = await ownersOf(context, [task]);
  return underLock(context, found, async () => {
    const again = { ...found, tip: (await git.tip(branchRef(branch))) ?? tip, owner: ownerOf(task) };
    const seen = await lookAtBranch(context, again, await board.list('workspace'));
    const verdict = decideBranch(seen, clock.now(), policy);
    if (seen.tip !== tip || verdict.kind === 'stays') return keptAs(whyStays(verdict));
    const kept = verdict.keptUnder.length === 0 ? [] : [await keepTip(context, task, tip, clock.now())];
    onStep('branch_kept');
    const moved = await git.moveRef(branchRef(branch), tip, null, `copse: ${task} is over`);
    onStep('branch_gone');
    if (moved.kind !== 'moved' && moved.tip !== null) return keptAs('It moved at this moment.');
    return { kind: 'removed', keptUnder: kept, notes: [] };
  });
}

async function removeTrash(
  context: SweepContext,
  found: FoundTrash,
  hasBudget: boolean,
  onStep: OnStep,
): Promise<SweptFate> {
  const { clock, policy, rescues, trash } = context;
  return underLock(context, found, async () => {
    const entry = await trash.again(found.folder);
    if (entry === undefined) return { kind: 'removed', keptUnder: [], notes: [] };
    const at = trashTime(context, clock.now());
    const verdict = decideTrash(await lookAtTrash(context, entry, { hasBudget }), at, policy);
    if (!mayGo(verdict, hasBudget)) return keptAs(whyStays(verdict));
    const { rescue } = entry.record;
    const isHeld = rescue !== null && (await rescues.find(rescue)) !== undefined;
    onStep('trash_checked');
    const deletion = await trash.delete(entry);
    onStep('trash_deleted');
    if (deletion.kind === 'kept')
      return keptAs(`The work in ${deletion.repositories.join(', ')} is nowhere else.`);
    return { kind: 'removed', keptUnder: isHeld ? [rescue] : [], notes: [] };
  });
}

async function removeLogs(
  context: SweepContext,
  found: FoundLogs,
  hasBudget: boolean,
  onStep: OnStep,
): Promise<SweptFate> {
  const { clock, leftovers, policy } = context;
  const ownerOf = await ownersOf(context, [found.task]);
  const needed = found.kind === 'artifacts' ? await importsOf(context) : new Map<TaskId, TaskId>();
  return underLock(context, found, async () => {
    const now = leftovers.logs(found.task).find(({ folder }) => folder === found.folder);
    if (now === undefined) return { kind: 'removed', keptUnder: [], notes: [] };
    const seen = { ...found, ...now, owner: ownerOf(found.task), neededBy: needed.get(found.task) ?? null };
    const verdict = decideLogs(seen, clock.now(), policy);
    if (!mayGo(verdict, hasBudget)) return keptAs(whyStays(verdict));
    // Transcripts beside the logs are things of their own: those that went are gone already.
    const sessions = found.kind === 'logs' ? await findSessions(context, found.task) : [];
    const kept = new Set(sessions.flatMap(({ files }) => files));
    return afterDeleting(await leftovers.deleteFolder(found.folder, kept), onStep, 'logs_deleted');
  });
}

async function removeTranscripts(
  context: SweepContext,
  found: FoundSession,
  hasBudget: boolean,
  onStep: OnStep,
): Promise<SweptFate> {
  return underLock(context, found, () => removeFiles(context, found, hasBudget, onStep));
}

async function removeFiles(
  context: SweepContext,
  { session, task }: FoundSession,
  hasBudget: boolean,
  onStep: OnStep,
): Promise<SweptFate> {
  const { clock, leftovers, policy } = context;
  const now = (await findSessions(context, task)).find((one) => one.session === session);
  if (now === undefined) return { kind: 'removed', keptUnder: [], notes: [] };
  const verdict = decideTranscripts(now, clock.now(), policy);
  if (!mayGo(verdict, hasBudget)) return keptAs(whyStays(verdict));
  const problems: string[] = [];
  for (const file of now.files) {
    problems.push(...(await leftovers.deleteLogs(file)));
    onStep('transcript_deleted');
  }
  return afterDeleting(problems, onStep, 'session_deleted');
}

async function removeSnapshot(
  context: SweepContext,
  found: FoundSnapshot,
  onStep: OnStep,
): Promise<SweptFate> {
  const { task, token } = found;
  // The task may have been taken up again, and the snapshot replaced.
  const now = (await listShared(context)).find((one) => one.task === task && one.token === token);
  const end = now?.end ?? null;
  if (now !== undefined && end === null) return { kind: 'failed', reason: `${task} is no longer over.` };
  const problem = now === undefined ? null : await dropListed(context, [now]);
  onStep('snapshot_dropped');
  if (problem !== null) return { kind: 'failed', reason: problem };
  const kept = end === 'ended' ? await context.rescues.list(task) : [];
  return { kind: 'removed', keptUnder: kept.map(({ ref }) => ref), notes: [] };
}

async function underLock(
  { git }: SweepContext,
  { task }: Pick<FoundTrash, 'task'>,
  work: () => Promise<SweptFate>,
): Promise<SweptFate> {
  const done = await git.tryLock(`task-${task}`, work);
  return done?.value ?? keptAs(`Another process works on ${task} right now.`);
}

function mayGo(verdict: SweepVerdict, isForBudget: boolean): boolean {
  return verdict.kind === 'goes' || (isForBudget && verdict.asIfOld !== undefined);
}

function afterDeleting(problems: readonly string[], onStep: OnStep, step: string): SweptFate {
  onStep(step);
  if (problems.length > 0) return { kind: 'failed', reason: problems.join(' ') };
  return { kind: 'removed', keptUnder: [], notes: [] };
}

const CHANGED = 'It changed since the plan was made.';

function whyStays(verdict: SweepVerdict): string {
  return verdict.kind === 'stays' ? verdict.why : CHANGED;
}

function keptAs(reason: string): SweptFate {
  return { kind: 'kept', reason };
}
