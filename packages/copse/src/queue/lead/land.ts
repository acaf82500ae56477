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
import type { Change as QueuedChange } from '../rules/decide/state.ts';
import type { AttentionCause } from '../../tasks/rules/task.ts';
import { type HandbackCause, decideGiveUp, decideLand } from '../../tasks/rules/outcomes.ts';
import type { TargetMove } from '../ports/merging.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { learnFromLanded, recordResolved } from '../act/conflict-task.ts';
import { tipOfTarget } from '../act/landing-target.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { type Lead, requireLead } from './leadership.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../context.ts';

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
  | { readonly moved: true; readonly landed: readonly LandedTask[] }
  /** `isRefused`: by the remote, which would only say the same again if it were asked at once. */
  | { readonly moved: false; readonly reason: string; readonly isRefused: boolean }
  /** Something changed meanwhile: look again; or another node leads by now. */
  | { readonly moved: false; readonly reason: null; readonly isLeadLost: boolean };

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
  // A checkout in the way is found out before anything is written about it, however often it is looked at.
  const trial = await context.merging.moveTarget({ ...move, isTrial: true });
  if (!trial.moved) return blocked(trial);
  await keepCandidate(context, target, to);
  onStep('kept');
  const journalled = await journal(context, lead, stack);
  // One of them was cancelled or worked on again, which the next look sees.
  if (!journalled.ok) return { moved: false, reason: null, isLeadLost: journalled.refusal.code === 'fenced' };
  onStep('journalled');
  const pushed = await pushFirst(context, target, to, stack.remote);
  if (!pushed.may) return pushRefused(context, stack, pushed.reason);
  const moved = from === to ? trial : await context.merging.moveTarget(move);
  if (!moved.moved) return blocked(moved);
  onStep('moved');
  const notes = new Map(
    changes.map(({ landing, notes }) => [landing as string, [...notes, ...pushed.notes]]),
  );
  const landed = await recordLanded(context, target, changes, notes);
  onStep('recorded');
  return { moved: true, landed };
}

function blocked(moved: Extract<TargetMove, { moved: false }>): StackMoved {
  if (moved.because === 'changed') return { moved: false, reason: null, isLeadLost: false };
  return { moved: false, reason: whyNotMoved(moved), isRefused: false };
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
  { readonly may: true; readonly notes: readonly string[] } | { readonly may: false; readonly reason: string }
> {
  const { push, on_push_failure: onFailure } = context.landing;
  if (!push || remote === commit) return { may: true, notes: [] };
  const pushed = await context.merging.push(target, commit);
  if (pushed.pushed || pushed.because === 'no_remote') return { may: true, notes: [] };
  const reason = `${target} could not be pushed: ${pushed.reason}`;
  return onFailure === 'warn' ? { may: true, notes: [reason] } : { may: false, reason };
}

async function pushRefused(context: RunContext, { changes }: StackMove, reason: string): Promise<StackMoved> {
  for (const { landing: id } of changes) {
    const landing = await context.board.get('landing', id);
    if (landing === undefined) continue;
    await waitInQueue(context, landing, reason);
    if (context.landing.on_push_failure === 'fail')
      await giveUpLanding(context, landing, { because: 'push', reason });
  }
  return { moved: false, reason, isRefused: true };
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
  if (required.length === 0) return { is: 'none_asked_for' };
  if (!isChecked) return { is: 'skipped' };
  const checks = await board.checksOf(tree);
  const green = checks.filter(({ end }) => end?.verdict === 'green').map(checkKey);
  return { is: 'checked', green, required };
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
      const others = await recordResolved(context, change, task, { head: landing.head, commit });
      const promoted = [...(await promoteDependants(change, taskId, context.node)), ...others];
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

/** It landed, whatever can be learned from it. */
async function tryToLearn(
  context: RunContext,
  change: Parameters<typeof learnFromLanded>[1],
): Promise<string | undefined> {
  try {
    await learnFromLanded(context, change);
    return undefined;
  } catch (error) {
    return `How it resolved conflicts is not remembered: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The target keeps it from here on, or it is built again. */
export async function forgetCandidate({ git }: RunContext, target: BranchName): Promise<void> {
  const kept = await git.tip(candidateRef(target));
  if (kept !== undefined) await git.moveRef(candidateRef(target), kept, null, 'copse: landed');
}

/** Says why it stays in the queue; once, however often it is looked at. */
export async function waitInQueue(context: RunContext, landing: Landing, reason: string): Promise<void> {
  await change(context, async (change) => {
    const current = await change.require('landing', landing.id);
    if (current.waiting === reason && current.state.status === 'queued') return;
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

function whyNotMoved(moved: Exclude<Extract<TargetMove, { moved: false }>, { because: 'changed' }>): string {
  switch (moved.because) {
    case 'in_the_way': {
      const [first = '', ...others] = moved.files;
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      const have = others.length === 0 ? 'has' : 'have';
      return `waiting for the checkout at ${moved.checkout}: ${first}${more} ${have} uncommitted changes`;
    }
    case 'busy':
      return `waiting for the checkout at ${moved.checkout}: ${moved.reason}`;
    default:
      return unreachable(moved);
  }
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
