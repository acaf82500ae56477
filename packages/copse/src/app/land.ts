/**
 * Lands finished branches on their target, one after another, without checks.
 *
 *   merge in the object store → keep it under a ref → journal {old tip, new tip} with the lead's token → move the target from
 *   exactly the old tip → read it back → record: landed, done, dependants ready
 *
 * Killed anywhere, the next look asks where the target is. At the new tip, or beyond it: it landed, and that is recorded. At
 * the old tip: again from the start, and since the same merge gives the same commits, nothing comes twice. Anywhere else:
 * somebody else moved it, and the branch is merged anew on top of that.
 */

import { refused, unreachable } from '../domain/decision.ts';
import { describeConflict } from '../domain/finish.ts';
import type { BranchName, CommitId, TaskId } from '../domain/ids.ts';
import { type Landing, decideLanding } from '../domain/landing.ts';
import type { AttentionCause, Task } from '../domain/task.ts';
import { type HandbackCause, decideGiveUp, decideLand } from '../domain/task-outcomes.ts';
import { listed, shown } from '../domain/text.ts';
import type { Candidate, MergeMethod, TargetMove } from '../ports/merging.ts';
import { type Outcome, change } from './context.ts';
import { landedSince, tipOfTarget } from './finish.ts';
import { keepWorkspace } from './keep-workspace.ts';
import { findLandingBase } from './landing-base.ts';
import { type Lead, requireLead } from './lead.ts';
import { promoteDependants } from './promote.ts';
import { type RunContext, agentNamed } from './run-context.ts';
import { workspaceOf } from './workspace-context.ts';

export type Landed =
  | {
      readonly landing: 'landed';
      readonly task: TaskId;
      readonly commit: CommitId;
      readonly promoted: readonly TaskId[];
      readonly notes: readonly string[];
    }
  /** It stays in the queue. `isRefused`: by the remote, which would only say the same again if it were asked at once. */
  | {
      readonly landing: 'waits';
      readonly task: TaskId;
      readonly reason: string;
      readonly isRefused?: boolean;
    }
  /** Its owner has to resolve it; it is still in the queue until somebody hands it back. */
  | {
      readonly landing: 'conflicts';
      readonly task: TaskId;
      readonly cause: HandbackCause;
      readonly target: CommitId;
    }
  | { readonly landing: 'gone'; readonly task: TaskId; readonly reason: string };

export const landingSteps = ['merged', 'kept', 'journalled', 'moved', 'recorded'] as const;
type LandingStep = (typeof landingSteps)[number];

export interface LandOptions {
  readonly onStep?: (step: LandingStep) => void;
}

export async function landOne(
  context: RunContext,
  lead: Lead,
  landing: Landing,
  { onStep = () => {} }: LandOptions = {},
): Promise<Landed> {
  const task = await context.board.get('task', landing.task);
  if (task?.state.status !== 'landing' || task.state.landing !== landing.id) {
    return { landing: 'gone', task: landing.task, reason: `${landing.task} is no longer in the queue` };
  }
  const finished = await finishJournalled(context, task, landing, onStep);
  if (finished !== undefined) return finished;
  if (Object.keys(context.landing.checks).length > 0) {
    // Whoever asked for checks wants nothing to land without them.
    return wait(context, landing, 'copse.yml asks for landing.checks, which this version cannot run yet');
  }
  const base = await findLandingBase(context, landing);
  if (!base.found) return wait(context, landing, base.reason);
  const candidate = await build(context, task, landing, base.onto);
  onStep('merged');
  if (!candidate.built) return notBuilt(context, task, landing, base.onto, candidate);
  const { commit } = candidate;
  const { local: from } = base;
  const move = { target: landing.target, from, to: commit, reason: `copse: ${task.id} lands` };
  // A checkout in the way is found out before anything is written about it, however often it is looked at.
  const trial = await context.merging.moveTarget({ ...move, isTrial: true });
  if (!trial.moved) return wait(context, landing, whyNotMoved(landing.target, trial));
  await keepCandidate(context, landing, commit);
  onStep('kept');
  const journalled = await journal(context, lead, landing, base.local, commit);
  if (!journalled.ok) return { landing: 'waits', task: task.id, reason: journalled.refusal.reason };
  onStep('journalled');
  const pushed = await pushFirst(context, landing, commit, base.remote);
  if (!pushed.may) return pushed.landed;
  const moved = from === commit ? trial : await context.merging.moveTarget(move);
  if (!moved.moved) return wait(context, landing, whyNotMoved(landing.target, moved));
  onStep('moved');
  const isThere = candidate.commits === 0 ? [`${landing.target} has all of it already.`] : [];
  const notes = [...isThere, ...(candidate.note === null ? [] : [candidate.note]), ...pushed.notes];
  return record(context, task, landing, commit, notes, onStep);
}

/**
 * To the remote before the target moves here: what it refuses has then changed nothing. A push whose answer was lost is seen
 * at the next look, which asks the remote first.
 */
async function pushFirst(
  context: RunContext,
  landing: Landing,
  commit: CommitId,
  remote: CommitId | undefined,
): Promise<
  { readonly may: true; readonly notes: readonly string[] } | { readonly may: false; readonly landed: Landed }
> {
  const { push, on_push_failure: onFailure } = context.landing;
  if (!push || remote === commit) return { may: true, notes: [] };
  const pushed = await context.merging.push(landing.target, commit);
  if (pushed.pushed || pushed.because === 'no_remote') return { may: true, notes: [] };
  const reason = `${landing.target} could not be pushed: ${pushed.reason}`;
  if (onFailure === 'warn') return { may: true, notes: [reason] };
  const waits = await wait(context, landing, reason);
  if (waits.landing !== 'waits') return { may: false, landed: waits };
  if (onFailure === 'retry') return { may: false, landed: { ...waits, isRefused: true } };
  const given = await giveUpLanding(context, landing, { because: 'push', reason });
  return { may: false, landed: given.ok ? { landing: 'gone', task: landing.task, reason } : waits };
}

/** What an earlier call journalled and perhaps did. Undefined when there is nothing, or it has to be done again. */
async function finishJournalled(
  context: RunContext,
  task: Task,
  landing: Landing,
  onStep: (step: LandingStep) => void,
): Promise<Landed | undefined> {
  const intent = 'intent' in landing.state ? landing.state.intent : null;
  if (intent === null) return undefined;
  const tip = await tipOfTarget(context, landing.target);
  if (await context.git.isAncestor(intent.newTip, tip)) {
    return record(context, task, landing, intent.newTip, [], onStep);
  }
  const reason = tip === intent.oldTip ? 'its landing was interrupted' : `${landing.target} moved meanwhile`;
  const requeued = await change(context, async (change) => {
    const current = await change.require('landing', landing.id);
    await change.apply(decideLanding(current, { action: 'requeue', head: landing.head, reason }, change.at));
  });
  return requeued.ok ? undefined : { landing: 'waits', task: task.id, reason: requeued.refusal.reason };
}

async function build(
  context: RunContext,
  task: Task,
  { target, head, queuedAt }: Landing,
  onto: CommitId,
): Promise<Candidate> {
  const branch = (await workspaceOf(context, task.id))?.worktree?.branch ?? (task.id as string as BranchName);
  return context.merging.build({
    task: task.id,
    title: task.title,
    plan: task.plan,
    branch,
    target,
    onto,
    head,
    method: await methodFor(context, task),
    at: queuedAt,
  });
}

async function methodFor(context: RunContext, { session }: Task): Promise<MergeMethod> {
  const record = session === null ? undefined : await context.board.get('session', session);
  const agent = record && agentNamed(context, record.agent);
  return (agent?.landing ?? context.landing).method;
}

async function notBuilt(
  context: RunContext,
  task: Task,
  { target, head }: Landing,
  onto: CommitId,
  candidate: Extract<Candidate, { built: false }>,
): Promise<Landed> {
  const of = { landing: 'conflicts', task: task.id, target: onto } as const;
  switch (candidate.because) {
    case 'conflict': {
      const others = await landedSince(context, head, onto);
      const { files } = candidate;
      const reason = describeConflict({ task: task.id, target, files, others });
      return { ...of, cause: { because: 'conflict', reason, files, with: others.map((one) => one.task) } };
    }
    case 'reverts': {
      const reason = [
        `A merge on the branch of ${task.id} takes back what others landed on ${shown(target)}:`,
        listed(candidate.files),
        'Merge again so that their changes stay, and finish again.',
      ].join('\n');
      return { ...of, cause: { because: 'conflict', reason, files: candidate.files } };
    }
    case 'unrelated': {
      const reason = `The branch of ${task.id} and ${shown(target)} have no commit in common.`;
      return { ...of, cause: { because: 'conflict', reason } };
    }
    default:
      return unreachable(candidate);
  }
}

/** Anybody may prune what no ref keeps. */
async function keepCandidate({ git }: RunContext, landing: Landing, commit: CommitId): Promise<void> {
  const ref = candidateRef(landing);
  const before = (await git.tip(ref)) ?? null;
  if (before === commit) return;
  const moved = await git.moveRef(ref, before, commit, 'copse: a candidate');
  if (!moved.moved) throw new Error(`The candidate of ${landing.task} could not be kept under ${ref}`);
}

function candidateRef({ id }: Landing): string {
  return `refs/copse/candidate/${id}`;
}

async function journal(
  context: RunContext,
  lead: Lead,
  landing: Landing,
  oldTip: CommitId,
  newTip: CommitId,
): Promise<Outcome<null>> {
  return change(context, async (change) => {
    await requireLead(change, lead);
    const current = await change.require('landing', landing.id);
    if (current.state.status === 'queued')
      await change.apply(decideLanding(current, { action: 'merge' }, change.at));
    const merging = await change.require('landing', landing.id);
    if (merging.head !== landing.head)
      change.refuse(
        refused('wrong_status', `The branch of ${landing.task} moved.`, `copse why ${landing.task}`),
      );
    await change.apply(decideLanding(merging, { action: 'journal', intent: { oldTip, newTip } }, change.at));
    return null;
  });
}

async function record(
  context: RunContext,
  { id }: Task,
  landing: Landing,
  commit: CommitId,
  notes: readonly string[],
  onStep: (step: LandingStep) => void,
): Promise<Landed> {
  const tip = await tipOfTarget(context, landing.target);
  if (!(await context.git.isAncestor(commit, tip))) {
    return wait(context, landing, `${landing.target} was moved away again by somebody else`);
  }
  // The target keeps it from here on.
  const candidate = await context.git.tip(candidateRef(landing));
  if (candidate !== undefined)
    await context.git.moveRef(candidateRef(landing), candidate, null, 'copse: landed');
  const recorded = await change(context, async (change) => {
    const task = await change.require('task', id);
    const current = await change.require('landing', landing.id);
    await change.apply(decideLand(task, { how: 'landed', landing: current, commit }, change.at));
    return promoteDependants(change, id, context.node);
  });
  if (!recorded.ok) return { landing: 'gone', task: id, reason: recorded.refusal.reason };
  onStep('recorded');
  return { landing: 'landed', task: id, commit, promoted: recorded.value, notes };
}

async function wait(context: RunContext, landing: Landing, reason: string): Promise<Landed> {
  const outcome = await change(context, async (change) => {
    const current = await change.require('landing', landing.id);
    if (current.waiting === reason && current.state.status === 'queued') return;
    await change.apply(decideLanding(current, { action: 'wait', reason }, change.at));
  });
  if (!outcome.ok) return { landing: 'gone', task: landing.task, reason: outcome.refusal.reason };
  return { landing: 'waits', task: landing.task, reason };
}

function whyNotMoved(target: BranchName, moved: Extract<TargetMove, { moved: false }>): string {
  switch (moved.because) {
    case 'changed':
      return `${target} moved at the same moment`;
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
