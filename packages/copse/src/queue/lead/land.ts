/**
 * Moves the target to a stack of candidates, and records what landed with it.
 *
 *   keep it under a ref → journal {old tip, new tip} of all of them with the lead's token → push → move the target from
 *   exactly the old tip → read it back → record: landed, done, dependants ready
 *
 * Killed anywhere, the next look asks where the target is. If it contains the candidate, it landed, and that is recorded.
 * If not, it is merged again from the start, and since the same merge gives the same commits, nothing comes twice.
 */

import { checkKey } from '../rules/check.ts';
import { refused } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import { type Landing, type Proof, decideLanding } from '../rules/landing.ts';
import type { QueuedChange } from '../rules/decide/state.ts';
import type { AttentionCause } from '../../tasks/rules/task.ts';
import { type HandbackCause, decideGiveUp, decideLand } from '../../tasks/rules/outcomes.ts';
import type { TargetMove } from '../ports/merging.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { dropConflictRef, recordResolved } from '../act/conflict-task.ts';
import { landingToResolve } from '../rules/hand-back.ts';
import { type WaitReason, isSameWait } from '../rules/wait-reason.ts';
import { waitText } from '../../explain/rules/queue.ts';
import { tipOfTarget } from '../act/landing-target.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { type Lead, requireLead } from './leadership.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

export interface LandedTask {
  readonly landing: 'landed';
  readonly task: TaskId;
  readonly commit: CommitId;
  readonly isVerified: boolean;
  readonly promoted: readonly TaskId[];
  readonly notes: readonly string[];
}

export const landingSteps = ['merged', 'kept', 'journalled', 'moved', 'recorded'] as const;
export type LandingStep = (typeof landingSteps)[number];

/** What the target is to move to, and what each change becomes in it. */
export interface StackMove {
  readonly local: CommitId;
  readonly remote: CommitId | undefined;
  readonly commit: CommitId;
  readonly tree: string;
  readonly changes: readonly (QueuedChange & {
    readonly commit: CommitId;
    readonly notes: readonly string[];
  })[];
  /** Keys of the checks that the tree must have passed; none where none are asked for. */
  readonly required: readonly string[];
  readonly isChecked: boolean;
}

export type StackMoved =
  | { readonly kind: 'landed'; readonly landed: readonly LandedTask[] }
  /** A checkout is in the way. */
  | { readonly kind: 'blocked'; readonly reason: WaitReason }
  /** The remote refused the push; asked again at once it would refuse again. */
  | { readonly kind: 'push_refused'; readonly reason: WaitReason }
  /** The target or a landing changed meanwhile: look again. */
  | { readonly kind: 'outdated' }
  /** Another node leads the queue now. */
  | { readonly kind: 'lead_lost' };

export async function landStack(
  context: RunContext,
  lead: Lead,
  stack: StackMove,
  onStep: (step: LandingStep) => void,
): Promise<StackMoved> {
  const { target } = lead;
  const { local: from, commit: to, changes } = stack;
  const [first, ...others] = changes;
  if (first === undefined) throw new Error(`Nothing is to land on ${target}`);
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const move = { target, from, to, reason: `copse: ${first.task}${more} lands` };
  // First: a blocked landing is looked at every few seconds and must write nothing each time.
  const trial = await context.merging.moveTarget({ ...move, isTrial: true });
  if (!trial.moved) return blocked(trial);
  await keepCandidate(context, target, to);
  onStep('kept');
  const journalled = await journal(context, lead, stack);
  // Otherwise one of them was cancelled or its branch moved.
  if (!journalled.ok) return { kind: journalled.refusal.code === 'fenced' ? 'lead_lost' : 'outdated' };
  onStep('journalled');
  const pushed = await pushFirst(context, target, to, stack.remote);
  if (pushed.kind === 'refused') return pushRefused(context, stack, pushed.reason);
  const moved = from === to ? trial : await context.merging.moveTarget(move);
  if (!moved.moved) return blocked(moved);
  onStep('moved');
  const notes = new Map(
    changes.map(({ landing, notes }) => [landing as string, [...notes, ...pushed.notes]]),
  );
  const landed = await recordLanded(context, target, changes, notes);
  onStep('recorded');
  return { kind: 'landed', landed };
}

function blocked(moved: Extract<TargetMove, { moved: false }>): StackMoved {
  switch (moved.because) {
    case 'changed':
      return { kind: 'outdated' };
    case 'in_the_way': {
      const { checkout, files } = moved;
      return { kind: 'blocked', reason: { kind: 'checkout_changed', checkout, files } };
    }
    case 'busy': {
      const { checkout, reason: detail } = moved;
      return { kind: 'blocked', reason: { kind: 'checkout_busy', checkout, detail } };
    }
    default:
      return unreachable(moved);
  }
}

/**
 * To the remote before the target moves here: what it refuses has then changed nothing. A push whose answer was lost is seen
 * at the next look, which asks the remote first.
 */
async function pushFirst(
  context: RunContext,
  target: BranchName,
  commit: CommitId,
  remote: CommitId | undefined,
): Promise<
  | { readonly kind: 'pushed'; readonly notes: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: WaitReason }
> {
  const { push, on_push_failure: onFailure } = context.landing;
  if (!push || remote === commit) return { kind: 'pushed', notes: [] };
  const pushed = await context.merging.push(target, commit);
  if (pushed.pushed || pushed.because === 'no_remote') return { kind: 'pushed', notes: [] };
  const reason: WaitReason = { kind: 'push_failed', target, detail: pushed.reason };
  return onFailure === 'warn' ? { kind: 'pushed', notes: [waitText(reason)] } : { kind: 'refused', reason };
}

async function pushRefused(context: RunContext, { changes }: StackMove, reason: WaitReason): Promise<StackMoved> {
  for (const { landing: id } of changes) {
    const landing = await context.board.get('landing', id);
    if (landing === undefined) continue;
    await waitInQueue(context, landing, reason);
    if (context.landing.on_push_failure === 'fail')
      await giveUpLanding(context, landing, { because: 'push', reason: waitText(reason) });
  }
  return { kind: 'push_refused', reason };
}

/** Anybody may prune what no ref keeps. One for each target: whoever was killed leaves it to whoever leads next. */
async function keepCandidate({ git }: RunContext, target: BranchName, commit: CommitId): Promise<void> {
  const ref = candidateRef(target);
  const before = (await git.tip(ref)) ?? null;
  if (before === commit) return;
  const moved = await git.moveRef(ref, before, commit, 'copse: a candidate');
  if (!moved.moved) throw new Error(`The candidate for ${target} could not be kept under ${ref}`);
}

function candidateRef(target: BranchName): string {
  return `refs/copse/candidate/${encodeURIComponent(target)}`;
}

/** All of them or none: whoever was cancelled meanwhile must not land with the others. */
async function journal(context: RunContext, lead: Lead, stack: StackMove): Promise<Outcome<null>> {
  const { local: oldTip, commit: newTip } = stack;
  return change(context, async (change) => {
    await requireLead(change, lead);
    const proof = await proofOf(change, stack);
    for (const { landing: id, task, head, commit } of stack.changes) {
      const current = await change.require('landing', id);
      if (current.head !== head)
        change.refuse(refused('wrong_status', `The branch of ${task} moved.`, `copse why ${task}`));
      if (current.state.status === 'queued')
        await change.apply(decideLanding(current, { action: 'merge' }, change.at));
      const merging = await change.require('landing', id);
      const intent = { oldTip, newTip, commit };
      await change.apply(decideLanding(merging, { action: 'journal', intent, proof }, change.at));
    }
    return null;
  });
}

/** Read in the transaction that relies on it, about exactly the tree that the target gets. */
async function proofOf({ board }: Change, { tree, required, isChecked }: StackMove): Promise<Proof> {
  if (required.length === 0) return { kind: 'none_asked_for' };
  if (!isChecked) return { kind: 'skipped' };
  const checks = await board.checksOf(tree);
  const green = checks.filter(({ end }) => end?.verdict === 'green').map(checkKey);
  return { kind: 'checked', green, required };
}

/** What an earlier look journalled and perhaps did. What did not come to be is merged again. */
export async function finishJournalled(
  context: RunContext,
  target: BranchName,
  landings: readonly Landing[],
): Promise<readonly LandedTask[]> {
  const open = landings.flatMap((landing) =>
    'intent' in landing.state && landing.state.intent !== null
      ? [{ landing, intent: landing.state.intent }]
      : [],
  );
  if (open.length === 0) return [];
  const tip = await tipOfTarget(context, target);
  const done: (QueuedChange & { readonly commit: CommitId })[] = [];
  for (const { landing, intent } of open) {
    const { id, task, head } = landing;
    if (await context.git.isAncestor(intent.commit, tip)) {
      done.push({ landing: id, task, head, commit: intent.commit });
      continue;
    }
    const reason = tip === intent.oldTip ? 'its landing was interrupted' : `${target} moved meanwhile`;
    await change(context, async (change) => {
      const current = await change.require('landing', id);
      await change.apply(decideLanding(current, { action: 'requeue', head, reason }, change.at));
    });
  }
  if (done.length === 0) return [];
  // Whoever was killed may have left a checkout halfway; to try to go where it is finishes that.
  await context.merging.moveTarget({ target, from: tip, to: tip, isTrial: true });
  return recordLanded(context, target, done, new Map());
}

async function recordLanded(
  context: RunContext,
  target: BranchName,
  changes: readonly (QueuedChange & { readonly commit: CommitId })[],
  notes: ReadonlyMap<string, readonly string[]>,
): Promise<readonly LandedTask[]> {
  const tip = await tipOfTarget(context, target);
  const last = changes.at(-1);
  if (last === undefined || !(await context.git.isAncestor(last.commit, tip))) return [];
  const before = new Map<string, CommitId>();
  await forgetCandidate(context, target);
  const recorded = await change(context, async (change) => {
    const landed: LandedTask[] = [];
    for (const { landing: id, task: taskId, commit } of changes) {
      const task = await change.require('task', taskId);
      const landing = await change.require('landing', id);
      if ('intent' in landing.state && landing.state.intent) before.set(id, landing.state.intent.oldTip);
      await change.apply(decideLand(task, { how: 'landed', landing, commit }, change.at));
      const { state } = await change.require('landing', id);
      const isVerified = state.status === 'landed' && state.isVerified;
      const resolved = landingToResolve(task);
      const others =
        resolved && (await recordResolved(context, change, resolved, { head: landing.head, commit }));
      const promoted = [...(await promoteDependants(change, taskId, context.node)), ...(others ?? [])];
      landed.push({
        landing: 'landed',
        task: taskId,
        commit,
        isVerified,
        promoted,
        notes: notes.get(id) ?? [],
      });
    }
    return landed;
  });
  if (!recorded.ok) return [];
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

/** The target keeps it from here on, or it is built again. */
export async function forgetCandidate({ git }: RunContext, target: BranchName): Promise<void> {
  const kept = await git.tip(candidateRef(target));
  if (kept !== undefined) await git.moveRef(candidateRef(target), kept, null, 'copse: landed');
}

/** Records why it stays in the queue; an unchanged reason writes nothing. */
export async function waitInQueue(context: RunContext, landing: Landing, reason: WaitReason): Promise<void> {
  await change(context, async (change) => {
    const current = await change.require('landing', landing.id);
    if (isSameWait(current.waiting, reason) && current.state.status === 'queued') return;
    await change.apply(decideLanding(current, { action: 'wait', reason }, change.at));
  });
}

/** What it waited for is over. */
export async function goOnInQueue(context: RunContext, { id }: Landing): Promise<void> {
  await change(context, async (change) => {
    const current = await change.require('landing', id);
    if (current.waiting === null || current.state.status !== 'queued') return;
    const request = { action: 'requeue', head: current.head, reason: 'what it waited for is over' } as const;
    await change.apply(decideLanding(current, request, change.at));
  });
}

/** Sets a landing aside for a person: its task needs attention. */
export async function giveUpLanding(
  context: RunContext,
  landing: Landing,
  {
    because,
    reason,
    files,
    with: others,
  }: Omit<HandbackCause, 'because'> & { readonly because: AttentionCause },
): Promise<Outcome<null>> {
  return change(context, async (change) => {
    const task = await change.require('task', landing.task);
    const current = await change.require('landing', landing.id);
    const cause = { because, reason, ...(files && { files }), ...(others && { with: others }) };
    await change.apply(decideGiveUp(task, { landing: current }, cause, change.at));
    await keepWorkspace(change, { task: task.id, node: context.node }, { because, reason });
    return null;
  });
}
