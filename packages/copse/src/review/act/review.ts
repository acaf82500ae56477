/**
 * Tasks that wait for a review, and the person's answer. The review shows what would land: everything since the branch left its
 * target. An approval counts for exactly the shown commit; when the branch moves after it, the task returns to review
 * (moved-branches.ts). A task that is sent back goes to its agent with the comment, which is also kept in the ledger.
 */

import { type Refused, refused } from '../../kernel/decision.ts';
import {
  type AgentName,
  type BranchName,
  type CommitId,
  type EventNumber,
  type TaskId,
  brand,
} from '../../kernel/ids.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import { addressOf } from '../rules/pull-request.ts';
import { shown } from '../../kernel/text.ts';
import { type Task, refuseUnlessAllowed, refusedFor } from '../../tasks/rules/task.ts';
import type { Diff, DiffRequest } from '../../workspaces/ports/worktrees.ts';
import type { Outcome } from '../../board/context.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';
import { tipOfTarget, targetOf } from '../../queue/act/landing-target.ts';
import { type GoneOn, resumeTask } from '../../agents/act/go-on.ts';
import { whyItLeftTheQueue } from '../../queue/act/last-landing.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import { queueTask } from '../../queue/act/merge.ts';
import { noticeMovedBranches } from '../../queue/lead/moved-branches.ts';
import { requiredChecks } from '../../queue/lead/checks.ts';
import { checkKey } from '../../queue/rules/check.ts';
import { type RunContext, agentNamed, contextOf } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { bringNewest } from '../../workspaces/act/shared/share-work.ts';
import { headOfTask } from '../../workspaces/act/head-of-task.ts';

/** What would land. */
interface ReviewedChange {
  readonly head: CommitId;
  /** Where the branch left the target, or the commit that it was to be compared with. */
  readonly from: CommitId;
  readonly diff: Diff;
  /** Files that conflict with the target now. */
  readonly conflicts: readonly string[];
}

export interface TaskReview {
  readonly task: Task;
  /** The last agent. */
  readonly agent: AgentName | null;
  /** A person works on it now. */
  readonly isByHand: boolean;
  readonly target: BranchName | null;
  /** Null when the commits are not in this repository. */
  readonly change: ReviewedChange | null;
  /** The number of accept commands, and whether they passed for exactly this change. */
  readonly accept: { readonly commands: number; readonly isOfThis: boolean };
  readonly checks: readonly { readonly name: string; readonly verdict: string }[];
  /** Number of uncommitted files, which would not land. */
  readonly uncommitted: number;
  /** Why it left the queue the last time, if it was queued. */
  readonly before: string | null;
  readonly ledger: readonly LedgerEntry[];
}

/** Longest waiting first. */
export async function listReviews(context: RunContext): Promise<readonly TaskReview[]> {
  const waiting = await context.board.tasks({ statuses: ['in_review'], order: 'urgent' });
  const reviews: TaskReview[] = [];
  for (const { id } of waiting.toSorted((a, b) => a.state.since - b.state.since)) {
    const task = await context.board.get('task', id);
    if (task?.state.status !== 'in_review') continue;
    reviews.push(await look(await contextOf(context, task), task, { withoutPatch: true }));
  }
  return reviews;
}

export async function loadReview(
  context: RunContext,
  id: TaskId,
  options: ReviewOptions = {},
): Promise<Outcome<TaskReview>> {
  const task = await context.board.get('task', id);
  if (task === undefined) return refused('not_found', `There is no task ${id} on the board.`, 'copse list');
  return { kind: 'done', value: await look(context, task, options) };
}

interface ReviewOptions extends Pick<DiffRequest, 'withoutPatch' | 'maxPatchBytes' | 'skipPatchBytes'> {
  /** Compare with this commit, and not with where the branch left its target. */
  readonly since?: CommitId | undefined;
}

/** The commit that was in review before the branch came to `head`, if this repository still has it. */
export async function lastReviewed(
  { board, git }: RunContext,
  task: TaskId,
  head: CommitId,
): Promise<CommitId | null> {
  let last: CommitId | null = null;
  const asked = { after: brand<EventNumber>(0), task, types: ['task.sent_to_review'] as const };
  for await (const { event } of eventsSoFar(board, asked))
    if (event.type === 'task.sent_to_review' && event.head !== head) last = event.head;
  return last !== null && (await git.tip(last)) !== undefined ? last : null;
}

async function look(context: RunContext, task: Task, options: ReviewOptions): Promise<TaskReview> {
  const { board, git } = context;
  const { id, state } = task;
  const session = task.session === null ? undefined : await board.get('session', task.session);
  const settings = session && agentNamed(context, session.agent);
  const worktree = (await workspaceOf(context, id))?.worktree ?? null;
  const seen = worktree && (await git.look(worktree.path));
  const target =
    (task.session === null ? worktree?.baseBranch : undefined) ??
    (await targetOf(context, worktree?.baseBranch, settings)) ??
    null;
  const at = worktree && seen ? await headOfTask(git, worktree, seen) : null;
  const submitted = state.status === 'in_review' ? state.head : undefined;
  if (submitted !== undefined && (await git.tip(submitted)) === undefined) await bringNewest(context, id);
  const head = at?.head ?? submitted;
  const change = head && target ? await compare(context, head, target, options) : null;
  const uncommitted =
    worktree && seen?.state === 'healthy' ? await uncommittedIn(git, worktree.path) : undefined;
  const commands = [...task.accept, ...(settings?.finish ?? context.finish).accept].length;
  return {
    task,
    agent: (state.status === 'in_progress' ? state.claim.agent : session?.agent) ?? null,
    isByHand: state.status === 'in_progress' && state.claim.isByHand === true,
    target,
    change,
    accept: { commands, isOfThis: submitted !== undefined && submitted === head },
    checks: change === null ? [] : await checksOf(context, change.head),
    uncommitted: (uncommitted?.changed.length ?? 0) + (uncommitted?.untracked.length ?? 0),
    before: await whyItLeftTheQueue(board, id),
    ledger: await board.list('ledger', { task: id }),
  };
}

/** A worktree can be removed after it was looked at, when its task has landed: then nothing is uncommitted. */
async function uncommittedIn(
  git: RunContext['git'],
  path: string,
): Promise<Awaited<ReturnType<RunContext['git']['uncommitted']>> | undefined> {
  try {
    return await git.uncommitted(path);
  } catch (error) {
    if ((await git.look(path)).state === 'healthy') throw error;
    return undefined;
  }
}

async function compare(
  context: RunContext,
  head: CommitId,
  target: BranchName,
  { since, ...options }: ReviewOptions,
): Promise<ReviewedChange | null> {
  const { git, diffs, merging } = context;
  if ((await git.tip(head)) === undefined) return null;
  const onto = await tipOfTarget(context, target);
  const from = since ?? (await git.mergeBase(onto, head));
  if (from === undefined) return null;
  const diff = await diffs.compare({ from, to: head, ...options });
  return { head, from, diff, conflicts: (await merging.trial(onto, head)).conflicts };
}

/** The latest verdicts for exactly this tree. */
async function checksOf(context: RunContext, head: CommitId): Promise<TaskReview['checks']> {
  const required = requiredChecks(context);
  if (required.length === 0) return [];
  const known = await context.board.checksOf(await context.merging.treeOf(head));
  return required.flatMap(({ key, check }) => {
    const last = known.findLast((one) => checkKey(one) === key && one.end !== null);
    return last?.end ? [{ name: check.name, verdict: last.end.verdict }] : [];
  });
}

/** Queues exactly the shown commit. */
export async function approve(
  context: RunContext,
  id: TaskId,
  head: CommitId | null,
): Promise<Outcome<{ readonly landing: Landing; readonly wasQueued: boolean }>> {
  if (context.by.kind === 'session') return forPeople(id);
  await backIfMoved(context, id);
  const task = await context.board.get('task', id);
  const elsewhere = task && refuseIfElsewhere(task);
  if (elsewhere) return elsewhere;
  if (head === null) {
    const reason = `Cannot approve ${id}: its commits are not in this repository, so they were not reviewed here.`;
    return refused('wrong_status', reason, `copse show ${id}`);
  }
  const conflicting = task && (await refuseConflict(context, task, head));
  if (conflicting) return conflicting;
  const wasQueued = task?.state.status === 'landing';
  const queued = await queueTask(context, id, { reviewed: head });
  return queued.kind === 'done' ? { kind: 'done', value: { landing: queued.value, wasQueued } } : queued;
}

/** The queue handed it back for a conflict that is still there, and would do so again. */
async function refuseConflict(context: RunContext, task: Task, head: CommitId): Promise<Refused | undefined> {
  if (task.state.status !== 'needs_attention' || task.state.because !== 'conflict') return undefined;
  const { target, change } = await look(context, task, { withoutPatch: true });
  if (target === null || change?.head !== head || change.conflicts.length === 0) return undefined;
  return refusedFor(task, `Cannot approve ${task.id}: it conflicts with ${shown(target)}.`);
}

/** Returns a moved branch to review now, also while no orchestrator runs. */
async function backIfMoved(context: RunContext, id: TaskId): Promise<void> {
  const open = (await context.board.openLandings()).filter(({ task }) => task === id);
  await noticeMovedBranches(context, null, open);
}

/** A task with an open pull request is approved on the forge: here it would land a second time. */
function refuseIfElsewhere({ id, state }: Task): Refused | undefined {
  if (state.status !== 'in_review' || state.pullRequest === null) return undefined;
  const { pullRequest } = state;
  if (pullRequest.is !== 'open' && pullRequest.is !== 'wanted') return undefined;
  if (pullRequest.is === 'wanted' && pullRequest.isPushOnly) return undefined;
  const where = addressOf(pullRequest);
  const reason = `${id} lands by its pull request${where === null ? '' : `: approve and merge it at ${where}`}.`;
  return refused('wrong_status', reason, `copse merge ${id} # to land it here anyway`);
}

/** Back to its agent, with the requested changes. */
export async function sendBack(
  context: RunContext,
  id: TaskId,
  comment: string,
  unusable: readonly { readonly name: string; readonly reason: string }[],
): Promise<Outcome<GoneOn>> {
  if (context.by.kind === 'session') return forPeople(id);
  if (comment.trim() === '') {
    const reason = `Cannot send ${id} back without a comment: its agent needs to know what to change.`;
    return refused('invalid', reason, `copse review ${id} --send-back "what to change"`);
  }
  const task = await context.board.get('task', id);
  const refusedNow = task && (refuseInQueue(task) ?? refuseUnlessAllowed(task, 'resume'));
  const noAgent = task && (await refuseUnlessHere(context, task, unusable));
  const first = refusedNow ?? noAgent;
  if (first) return first;
  // Before the agent starts, so that its briefing includes it, now and later.
  const noted = await addLedgerEntry(context, id, { kind: 'decision', text: `Review: ${comment}` });
  return noted.kind === 'done' ? resumeTask(context, id, comment) : noted;
}

function refuseInQueue({ id, state }: Task): Refused | undefined {
  if (state.status !== 'landing') return undefined;
  return refused('wrong_status', `${id} is in the queue.`, `copse queue cancel ${id}`, `copse why ${id}`);
}

/** Whether the agent that worked on it can run here. */
export async function hasItsAgent(context: RunContext, { session: id }: Task): Promise<boolean> {
  const session = id === null ? undefined : await context.board.get('session', id);
  return session === undefined || agentNamed(context, session.agent) !== undefined;
}

/** Its agent must be able to run here. */
async function refuseUnlessHere(
  context: RunContext,
  { id, session: sessionId }: Task,
  unusable: readonly { readonly name: string; readonly reason: string }[],
): Promise<Refused | undefined> {
  const session = sessionId === null ? undefined : await context.board.get('session', sessionId);
  if (session === undefined || agentNamed(context, session.agent) !== undefined) return undefined;
  const { agent } = session;
  const attempts = await context.board.list('attempt', { task: id });
  const isByHand = attempts.every((attempt) => attempt.session !== sessionId);
  const why = unusable.find(({ name }) => name === agent)?.reason;
  const reason = isByHand
    ? `Cannot send ${id} back: a person worked on it, not an agent.`
    : why === undefined
      ? `Cannot send ${id} back: its agent ${agent} is not configured in this repository.`
      : `Cannot send ${id} back: its agent ${agent} cannot run here: ${why}`;
  const next = [
    `copse work ${id} --resume # to continue yourself`,
    `copse resume ${id} --message "…" # to let another agent continue`,
  ];
  return refused('wrong_status', reason, ...(next as [string, ...string[]]));
}

function forPeople(id: TaskId): Refused {
  const reason = `A session cannot review ${id}: only a person can approve it or send it back.`;
  return refused(
    'not_this_session',
    reason,
    'copse stuck --reason "what a person should do"',
    'copse finish',
  );
}
