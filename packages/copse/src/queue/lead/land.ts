/**
 * Moves the target to a stack of candidates, and records what landed with it.
 *
 *   note how they were merged → keep the candidate under a ref → journal {old tip, new tip} of all of them with the lead's
 *   token → push → move the target from exactly the old tip → read it back → record (record-landed.ts)
 *
 * After a kill at any step, the next look reads where the target is. If it contains the candidate, that is recorded as
 * landed. If not, the changes are merged again: the same merge gives the same commits, so nothing lands twice.
 */

import { checkKey } from '../rules/check.ts';
import { refused } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { BranchName, CommitId, LandingId } from '../../kernel/ids.ts';
import { type Landing, type Proof, decideLanding, isCommitted } from '../rules/landing.ts';
import type { QueuePlan } from '../rules/decide/decide.ts';
import type { QueuedChange } from '../rules/decide/state.ts';
import type { TargetMove } from '../ports/merging.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { waitText } from '../../explain/rules/queue.ts';
import type { RequiredCheck } from './checks.ts';
import { detailOf, isFaultOfMachine } from '../rules/failures.ts';
import { isOnTarget } from '../act/landing-target.ts';
import { giveUpLanding } from './hand-back.ts';
import type { LandingBase } from './landing-base.ts';
import { type Lead, hasLead, requireLead, whileRenewing } from './leadership.ts';
import type { QueueMemory } from './memory.ts';
import { type LandedTask, candidateRef, recordLanded, takeBack } from './record-landed.ts';
import type { RunContext } from '../context.ts';
import { waitInQueue } from './waits.ts';

export const landingSteps = ['merged', 'kept', 'journalled', 'pushed', 'moved', 'recorded'] as const;
export type LandingStep = (typeof landingSteps)[number];

/** The commit that the target moves to, and the commit that each change becomes in it. */
interface StackMove {
  readonly local: CommitId;
  readonly remote: CommitId | undefined;
  readonly commit: CommitId;
  readonly tree: string;
  readonly changes: readonly (QueuedChange & {
    readonly commit: CommitId;
    readonly notes: readonly string[];
  })[];
  /** Keys of the checks that the tree must have passed. */
  readonly required: readonly string[];
  readonly isChecked: boolean;
}

export type StackMoved =
  | { readonly kind: 'landed'; readonly landed: readonly LandedTask[] }
  /** A checkout blocks it. */
  | { readonly kind: 'blocked'; readonly reason: WaitReason }
  /** The remote refused the push; asked again at once it would refuse again. */
  | { readonly kind: 'push_refused'; readonly reason: WaitReason }
  /** The push had no answer, and the remote cannot be asked: the next look decides, from the journal. */
  | { readonly kind: 'push_unknown' }
  /** Something unexpected; the checkout of the target is as before. */
  | { readonly kind: 'failed'; readonly detail: string; readonly isFaultOfMachine: boolean }
  /** Another push to the remote's target was first; the landings are queued again. */
  | { readonly kind: 'outrun' }
  /** The target or a landing changed meanwhile: look again. */
  | { readonly kind: 'outdated' }
  /** Another node leads the queue now. */
  | { readonly kind: 'lead_lost' };

export type LandPlan = NonNullable<QueuePlan['land']>;
export type FoundBase = Extract<LandingBase, { kind: 'found' }>;

/** Lands what the decision said, on the target as the look found it. */
export async function landPlanned(
  context: RunContext,
  lead: Lead,
  {
    land,
    base,
    memory,
    required,
    onStep,
  }: {
    readonly land: LandPlan;
    readonly base: FoundBase;
    readonly memory: QueueMemory;
    readonly required: readonly RequiredCheck[];
    readonly onStep: (step: LandingStep) => void;
  },
): Promise<StackMoved> {
  const { candidates } = memory;
  const steps = await candidates.steps(land);
  await noteMerges(context, lead, steps);
  onStep('merged');
  const tree = await candidates.treeOf(land.commit);
  const changes = steps.map(({ landing, task, head, commit, commits, note }) => ({
    landing,
    task,
    head,
    commit,
    notes: [
      ...(commits === 0 ? [`${lead.target} already contains all of it.`] : []),
      ...(note === null ? [] : [note]),
    ],
  }));
  const { local, remote } = base;
  const { commit, isChecked } = land;
  const stack = { local, remote, commit, tree, changes, required: required.map(({ key }) => key), isChecked };
  const outcome = await landStack(context, lead, stack, onStep);
  // The journal may have refused because the tree is not green any more.
  if (outcome.kind === 'outdated' || outcome.kind === 'lead_lost') candidates.forgetVerdict(tree);
  if (outcome.kind === 'push_refused') {
    const landings = new Set(changes.map(({ landing }) => landing));
    memory.refusal = { atMs: context.clock.elapsedMs(), reason: outcome.reason, landings };
  }
  return outcome;
}

async function landStack(
  context: RunContext,
  lead: Lead,
  stack: StackMove,
  onStep: (step: LandingStep) => void,
): Promise<StackMoved> {
  const { target } = lead;
  const { local: from, commit: to, changes } = stack;
  const [first, ...others] = changes;
  if (first === undefined) throw new Error(`A stack for ${target} without changes`);
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const move = { target, from, to, reason: `copse: ${first.task}${more} lands` };
  // First: a blocked landing is looked at every few seconds and must write nothing each time.
  const trial = await tryToMove(context, { ...move, isTrial: true });
  if (trial.kind === 'failed') return trial;
  if (trial.kind !== 'moved') return blocked(trial);
  await keepCandidate(context, target, to);
  onStep('kept');
  const journalled = await journal(context, lead, stack);
  // Otherwise one of them was cancelled or its branch moved.
  if (journalled.kind === 'refused')
    return { kind: journalled.refusal.code === 'fenced' ? 'lead_lost' : 'outdated' };
  onStep('journalled');
  const pushed = await pushFirst(context, lead, to, stack.remote);
  if (pushed.kind === 'lead_lost' || pushed.kind === 'push_unknown') return pushed;
  if (pushed.kind === 'outrun') {
    const landings = changes.map(({ landing: id, head }) => ({ id, head }));
    const taken = await takeBack(context, lead, landings, `${target} moved on the remote`);
    return { kind: taken === 'lead_lost' ? 'lead_lost' : 'outrun' };
  }
  if (pushed.kind === 'refused') return pushRefused(context, lead, stack, pushed.reason);
  onStep('pushed');
  const moved = from === to ? trial : await tryToMove(context, move);
  if (moved.kind === 'failed') return takeOutOfJournal(context, lead, stack, moved);
  if (moved.kind !== 'moved') return blocked(moved);
  onStep('moved');
  const notes = new Map(
    changes.map(({ landing, notes }) => [landing as string, [...notes, ...pushed.notes]]),
  );
  const landed = await recordLanded(context, target, changes, notes);
  onStep('recorded');
  return { kind: 'landed', landed };
}

type Failed = Extract<StackMoved, { kind: 'failed' }>;

/** A failure after which the target has moved all the same is none. */
async function tryToMove(
  { git, merging }: RunContext,
  move: Parameters<RunContext['merging']['moveTarget']>[0],
): Promise<TargetMove | Failed> {
  try {
    return await merging.moveTarget(move);
  } catch (error) {
    const tip = move.isTrial ? undefined : await git.tip(`refs/heads/${move.target}`);
    if (tip !== undefined && (await git.isAncestor(move.to, tip))) return { kind: 'moved' };
    return { kind: 'failed', detail: detailOf(error), isFaultOfMachine: isFaultOfMachine(error) };
  }
}

/** The target did not move, and the checkout was put back: the landings may be cancelled again. */
async function takeOutOfJournal(
  context: RunContext,
  lead: Lead,
  { changes }: StackMove,
  failed: Failed,
): Promise<StackMoved> {
  for (const { landing: id } of changes) {
    const landing = await context.board.get('landing', id);
    if (landing === undefined || !isCommitted(landing)) continue;
    const reason = { kind: 'landing_failed', detail: failed.detail } as const;
    if ((await waitInQueue(context, lead, landing, reason)) === 'lead_lost') return { kind: 'lead_lost' };
  }
  return failed;
}

function blocked(moved: Exclude<TargetMove, { kind: 'moved' }>): StackMoved {
  switch (moved.kind) {
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
 * Pushes before the local target moves: a refused push has changed nothing. If the answer of a push is lost, the next look
 * finds the pushed commit, because it fetches first. A leader that was stopped after its journal finds here that it lost the
 * lead; if it is stopped even later, the remote refuses, because the target is not at the tip that it read.
 */
async function pushFirst(
  context: RunContext,
  lead: Lead,
  commit: CommitId,
  remote: CommitId | undefined,
): Promise<
  | { readonly kind: 'pushed'; readonly notes: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: WaitReason }
  | { readonly kind: 'lead_lost' }
  | { readonly kind: 'outrun' }
  | { readonly kind: 'push_unknown' }
> {
  const { push, on_push_failure: onFailure } = context.landing;
  const { target } = lead;
  if (!push || remote === commit) return { kind: 'pushed', notes: [] };
  if (!(await hasLead(context, lead))) return { kind: 'lead_lost' };
  const pushed = await whileRenewing(context, lead, () =>
    context.merging.push(target, commit, remote ?? null),
  );
  if (pushed.kind === 'pushed' || pushed.because === 'no_remote') return { kind: 'pushed', notes: [] };
  if (pushed.because === 'moved') return { kind: 'outrun' };
  if (!(await hasLead(context, lead))) return { kind: 'lead_lost' };
  if (pushed.because === 'unreachable' && onFailure !== 'warn') {
    const fetched = await whileRenewing(context, lead, () => context.git.fetch([target]));
    if (fetched.kind === 'failed') return { kind: 'push_unknown' };
    if (await isOnTarget(context, target, commit)) return { kind: 'pushed', notes: [] };
  }
  const reason: WaitReason = { kind: 'push_failed', target, detail: pushed.reason };
  return onFailure === 'warn' ? { kind: 'pushed', notes: [waitText(reason)] } : { kind: 'refused', reason };
}

async function pushRefused(
  context: RunContext,
  lead: Lead,
  { changes }: StackMove,
  reason: WaitReason,
): Promise<StackMoved> {
  for (const { landing: id } of changes) {
    const landing = await context.board.get('landing', id);
    if (landing === undefined) continue;
    if ((await waitInQueue(context, lead, landing, reason)) === 'lead_lost') return { kind: 'lead_lost' };
    if (context.landing.on_push_failure === 'fail')
      await giveUpLanding(context, landing, { because: 'push', reason: waitText(reason) }, lead);
  }
  return { kind: 'push_refused', reason };
}

/** A ref keeps it from being pruned. */
async function keepCandidate({ git }: RunContext, target: BranchName, commit: CommitId): Promise<void> {
  const ref = candidateRef(target);
  const before = (await git.tip(ref)) ?? null;
  if (before === commit) return;
  const moved = await git.moveRef(ref, before, commit, 'copse: a candidate');
  if (moved.kind !== 'moved') throw new Error(`Cannot keep the candidate for ${target} under ${ref}`);
}

/** All of them or none: a task that was cancelled meanwhile must not land with the others. */
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

/** Read in the transaction that relies on it, for exactly the tree that the target gets. */
async function proofOf({ board }: Change, { tree, required, isChecked }: StackMove): Promise<Proof> {
  if (required.length === 0) return { kind: 'none_asked_for' };
  if (!isChecked) return { kind: 'skipped' };
  const checks = await board.checksOf(tree);
  const green = checks.filter(({ end }) => end?.verdict === 'green').map(checkKey);
  return { kind: 'checked', green, required };
}

interface MergedChange {
  readonly landing: LandingId;
  /** What resolved its conflict, for example. */
  readonly note: string | null;
}

/** Records what is special about how changes were merged, before they land: afterwards it cannot be told. */
async function noteMerges(context: RunContext, lead: Lead, merged: readonly MergedChange[]): Promise<void> {
  const notes = new Map(merged.map(({ landing, note }) => [landing, note]));
  const noteOf = ({ id }: Landing) => notes.get(id) ?? null;
  const landings = await context.board.openLandings();
  const changed = landings.filter((one) => notes.has(one.id) && noteOf(one) !== (one.note ?? null));
  if (changed.length === 0) return;
  await change(context, async (change) => {
    await requireLead(change, lead);
    for (const one of changed) {
      const current = await change.require('landing', one.id);
      if (current.head !== one.head || isCommitted(current)) continue;
      await change.apply(decideLanding(current, { action: 'note', note: noteOf(one) }, change.at));
    }
  });
}

/** The first change whose files have uncommitted changes in a checkout of the target. */
export async function findInTheWay(
  { merging }: Pick<RunContext, 'merging'>,
  move: { readonly target: BranchName; readonly from: CommitId },
  steps: readonly { readonly landing: LandingId; readonly commit: CommitId }[],
): Promise<LandingId | undefined> {
  for (const { landing, commit } of steps) {
    const trial = await merging.moveTarget({ ...move, to: commit, isTrial: true });
    if (trial.kind === 'in_the_way') return landing;
  }
  return undefined;
}
