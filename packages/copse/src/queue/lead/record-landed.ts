/**
 * Records what landed, once the target has it: landed, done, dependants ready. The same for a landing that just moved the
 * target and for one whose leader was killed after the move.
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import { type Landing, decideLanding, isCommitted } from '../rules/landing.ts';
import type { QueuedChange } from '../rules/decide/state.ts';
import { landingToResolve } from '../rules/hand-back.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { decideLand } from '../../tasks/rules/outcomes.ts';
import { change } from '../../board/context.ts';
import { dropConflictRef, recordResolved } from '../act/conflict-task.ts';
import { isOnTarget, tipOfTarget } from '../act/landing-target.ts';
import { type Lead, requireLead } from './leadership.ts';
import { recordLandedCommit } from '../../tasks/act/artifacts.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

export interface LandedTask {
  readonly kind: 'landed';
  readonly task: TaskId;
  readonly commit: CommitId;
  readonly isVerified: boolean;
  readonly promoted: readonly TaskId[];
  readonly notes: readonly string[];
  /** Once its worktree was removed. */
  readonly removed?: {
    readonly worktree: string | null;
    readonly branch: BranchName | null;
    readonly branchDeleted: boolean;
  };
}

export type JournalFinished =
  | { readonly kind: 'finished'; readonly landed: readonly LandedTask[] }
  /** A checkout of the target cannot be put back yet, or the remote cannot be asked. */
  | { readonly kind: 'busy'; readonly reason: WaitReason }
  | { readonly kind: 'lead_lost' };

/**
 * Landings that were journalled before a kill, here or on a machine that is lost: those that the target contains are recorded,
 * the others requeued. First the checkout of the target: from the requeue on, a landing may be cancelled, and nothing of it
 * must be left. Where landings are pushed, the remote is asked: the commit may be there, or exist nowhere any more.
 */
export async function finishJournalled(
  context: RunContext,
  lead: Lead,
  landings: readonly Landing[],
): Promise<JournalFinished> {
  const { target } = lead;
  const open = landings.flatMap((landing) =>
    'intent' in landing.state && landing.state.intent !== null
      ? [{ landing, intent: landing.state.intent }]
      : [],
  );
  if (open.length === 0) return { kind: 'finished', landed: [] };
  const settled = await context.merging.settleTarget(target);
  if (settled.kind === 'busy') {
    const { checkout, reason: detail } = settled;
    return { kind: 'busy', reason: { kind: 'checkout_busy', checkout, detail } };
  }
  const unknown = await fetchUnlessHere(context, target, open);
  if (unknown !== undefined) return { kind: 'busy', reason: unknown };
  const done: (QueuedChange & { readonly commit: CommitId })[] = [];
  const tip = await tipOfTarget(context, target);
  for (const { landing, intent } of open) {
    const { id, task, head } = landing;
    if (await isOnTarget(context, target, intent.commit)) {
      done.push({ landing: id, task, head, commit: intent.commit });
      continue;
    }
    const reason = tip === intent.oldTip ? 'its landing was interrupted' : `${target} moved meanwhile`;
    const taken = await takeBack(context, lead, [landing], reason);
    if (taken === 'lead_lost') return { kind: 'lead_lost' };
  }
  const landed = done.length === 0 ? [] : await recordLanded(context, target, done, new Map());
  return { kind: 'finished', landed };
}

/** Why it cannot be known whether the pushed target has them. */
async function fetchUnlessHere(
  { git, landing }: RunContext,
  target: BranchName,
  open: readonly { readonly intent: { readonly commit: CommitId } }[],
): Promise<WaitReason | undefined> {
  if (!landing.push || (await git.remoteName()) === undefined) return undefined;
  const local = await git.tip(`refs/heads/${target}`);
  const isHere = ({ commit }: { readonly commit: CommitId }) =>
    local === undefined ? Promise.resolve(false) : git.isAncestor(commit, local);
  if ((await Promise.all(open.map(({ intent }) => isHere(intent)))).every(Boolean)) return undefined;
  const fetched = await git.fetch([target]);
  if (fetched.kind === 'fetched' || fetched.because === 'no_remote') return undefined;
  return { kind: 'remote_unreachable', detail: fetched.reason };
}

/** Read before: the target did not move to them. From here on they may be cancelled again. */
export async function takeBack(
  context: RunContext,
  lead: Lead,
  landings: readonly Pick<Landing, 'id' | 'head'>[],
  reason: string,
): Promise<'taken_back' | 'lead_lost'> {
  const taken = await change(context, async (change) => {
    await requireLead(change, lead);
    for (const { id, head } of landings) {
      const current = await change.require('landing', id);
      if (isCommitted(current))
        await change.apply(decideLanding(current, { action: 'requeue', head, reason }, change.at));
    }
  });
  return taken.kind === 'refused' && taken.refusal.code === 'fenced' ? 'lead_lost' : 'taken_back';
}

export async function recordLanded(
  context: RunContext,
  target: BranchName,
  changes: readonly (QueuedChange & { readonly commit: CommitId })[],
  notes: ReadonlyMap<string, readonly string[]>,
): Promise<readonly LandedTask[]> {
  const last = changes.at(-1);
  if (last === undefined || !(await isOnTarget(context, target, last.commit))) return [];
  const before = new Map<string, CommitId>();
  await forgetCandidate(context, target);
  const recorded = await change(context, async (change) => {
    const landed: LandedTask[] = [];
    for (const { landing: id, task: taskId, commit } of changes) {
      const task = await change.require('task', taskId);
      const landing = await change.require('landing', id);
      if ('intent' in landing.state && landing.state.intent) before.set(id, landing.state.intent.oldTip);
      await change.apply(decideLand(task, { kind: 'landed', landing, commit }, change.at));
      await recordLandedCommit(change, context, taskId, commit);
      const { state } = await change.require('landing', id);
      const isVerified = state.status === 'landed' && state.isVerified;
      const resolved = landingToResolve(task);
      const others =
        resolved && (await recordResolved(context, change, resolved, { head: landing.head, commit }));
      const promoted = [...(await promoteDependants(change, taskId, context.node)), ...(others ?? [])];
      landed.push({
        kind: 'landed',
        task: taskId,
        commit,
        isVerified,
        promoted,
        notes: notes.get(id) ?? [],
      });
    }
    return landed;
  });
  if (recorded.kind === 'refused') return [];
  const landed: LandedTask[] = [];
  for (const [at, one] of recorded.value.entries()) {
    const { landing, task, head } = changes[at] ?? last;
    const onto = before.get(landing);
    const problem = onto && (await tryToLearn(context, { task, head, onto }));
    landed.push(problem ? { ...one, notes: [...one.notes, problem] } : one);
  }
  return landed;
}

/** It landed, also if nothing can be learned from it. */
async function tryToLearn(
  context: RunContext,
  { task: id, head, onto }: { readonly task: TaskId; readonly head: CommitId; readonly onto: CommitId },
): Promise<string | undefined> {
  try {
    const task = await context.board.get('task', id);
    const resolved = task && landingToResolve(task);
    if (resolved !== undefined) await dropConflictRef(context, resolved);
    const base = (await workspaceOf(context, id))?.worktree?.baseCommit ?? null;
    await context.resolving.learn({ onto, head, base });
    return undefined;
  } catch (error) {
    return `Its conflict resolutions were not remembered: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The target contains it now, or it is built again. No landing waits for this: the next one replaces a ref that stays. */
export async function forgetCandidate({ git }: RunContext, target: BranchName): Promise<void> {
  const kept = await git.tip(candidateRef(target));
  if (kept !== undefined) await git.dropRef(candidateRef(target), kept);
}

/** One for each target; a killed leader leaves it to the next one. */
export function candidateRef(target: BranchName): string {
  return `refs/copse/candidate/${encodeURIComponent(target)}`;
}
