/**
 * What waits for a person's yes, and their answer. What is shown is what would land: everything since the branch left its
 * target. A yes is about exactly the commit that was shown; if the branch goes on after that, the task comes back to review
 * (moved-branches.ts). A no goes to the agent, with the comment, and stays in the ledger for whoever works on it later.
 */

import { type Refused, refused } from '../../kernel/decision.ts';
import type { AgentName, BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import { addressOf } from '../rules/pull-request.ts';
import { type Task, refuseUnlessAllowed } from '../../tasks/rules/task.ts';
import type { Diff } from '../../workspaces/ports/worktrees.ts';
import { type Outcome, refusal } from '../../board/context.ts';
import { tipOfTarget, targetOf } from '../../queue/act/landing-target.ts';
import { type GoneOn, resumeTask } from '../../agents/act/go-on.ts';
import { whyItLeftTheQueue } from '../../queue/act/last-landing.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import { queueTask } from '../../queue/act/merge.ts';
import { noticeMovedBranches } from '../../queue/lead/moved-branches.ts';
import { requiredChecks } from '../../queue/lead/checks.ts';
import { checkKey } from '../../queue/rules/check.ts';
import { type RunContext, agentNamed } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

/** What would land. */
interface Change {
  readonly head: CommitId;
  /** Where it left the target. */
  readonly from: CommitId;
  readonly diff: Diff;
  /** By which it could not land now. */
  readonly conflicts: readonly string[];
}

export interface Review {
  readonly task: Task;
  /** Whoever worked on it last. */
  readonly agent: AgentName | null;
  readonly target: BranchName | null;
  /** Null when its commits are not in this repository. */
  readonly change: Change | null;
  /** Commands that had to succeed, and whether they did for exactly this change. */
  readonly accept: { readonly commands: number; readonly isOfThis: boolean };
  readonly checks: readonly { readonly name: string; readonly verdict: string }[];
  /** Files in its worktree that would not land. */
  readonly uncommitted: number;
  /** What became of it when it last was in the queue, if that matters now. */
  readonly before: string | null;
  readonly ledger: readonly LedgerEntry[];
}

/** Those that wait longest come first. */
export async function listReviews(context: RunContext): Promise<readonly Review[]> {
  const waiting = await context.board.tasks({ statuses: ['in_review'], order: 'urgent' });
  const reviews: Review[] = [];
  for (const { id } of waiting.toSorted((a, b) => a.state.since - b.state.since)) {
    const task = await context.board.get('task', id);
    if (task?.state.status === 'in_review') reviews.push(await look(context, task, { withoutPatch: true }));
  }
  return reviews;
}

export async function loadReview(context: RunContext, id: TaskId): Promise<Outcome<Review>> {
  const task = await context.board.get('task', id);
  if (task === undefined)
    return refusal(refused('not_found', `There is no task ${id} on the board.`, 'copse list'));
  return { ok: true, value: await look(context, task, {}) };
}

async function look(
  context: RunContext,
  task: Task,
  options: { readonly withoutPatch?: boolean },
): Promise<Review> {
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
  const tip = worktree && (await git.tip(`refs/heads/${worktree.branch}`));
  const submitted = state.status === 'in_review' ? state.head : undefined;
  const head = (seen?.state === 'healthy' ? seen.head : tip) ?? submitted;
  const change = head && target ? await compare(context, head, target, options) : null;
  const uncommitted =
    worktree && seen?.state === 'healthy' ? await git.uncommitted(worktree.path) : undefined;
  const commands = [...task.accept, ...(settings?.finish ?? context.finish).accept].length;
  return {
    task,
    agent: session?.agent ?? null,
    target,
    change,
    accept: { commands, isOfThis: submitted !== undefined && submitted === head },
    checks: change === null ? [] : await checksOf(context, change.head),
    uncommitted: (uncommitted?.changed.length ?? 0) + (uncommitted?.untracked.length ?? 0),
    before: await whyItLeftTheQueue(board, id),
    ledger: await board.list('ledger', { task: id }),
  };
}

async function compare(
  context: RunContext,
  head: CommitId,
  target: BranchName,
  options: { readonly withoutPatch?: boolean },
): Promise<Change | null> {
  const { git, diffs, merging } = context;
  if ((await git.tip(head)) === undefined) return null;
  const onto = await tipOfTarget(context, target);
  const from = await git.mergeBase(onto, head);
  if (from === undefined) return null;
  const diff = await diffs.compare({ from, to: head, ...options });
  return { head, from, diff, conflicts: (await merging.trial(onto, head)).conflicts };
}

/** The latest verdicts about exactly this tree. */
async function checksOf(context: RunContext, head: CommitId): Promise<Review['checks']> {
  const required = requiredChecks(context);
  if (required.length === 0) return [];
  const known = await context.board.checksOf(await context.merging.treeOf(head));
  return required.flatMap(({ key, check }) => {
    const last = known.findLast((one) => checkKey(one) === key && one.end !== null);
    return last?.end ? [{ name: check.name, verdict: last.end.verdict }] : [];
  });
}

/** Into the queue, as it was shown. */
export async function approve(
  context: RunContext,
  id: TaskId,
  head: CommitId | null,
): Promise<Outcome<{ readonly landing: Landing; readonly wasQueued: boolean }>> {
  if (context.by.kind === 'session') return refusal(forPeople(id));
  await backIfMoved(context, id);
  const task = await context.board.get('task', id);
  const elsewhere = task && refuseIfElsewhere(task);
  if (elsewhere) return refusal(elsewhere);
  if (head === null) {
    const reason = `What ${id} changes is not in this repository, so nobody can have looked at it here.`;
    return refusal(refused('wrong_status', reason, `copse show ${id}`));
  }
  const wasQueued = task?.state.status === 'landing';
  const queued = await queueTask(context, id, { reviewed: head });
  return queued.ok ? { ok: true, value: { landing: queued.value, wasQueued } } : queued;
}

/** One that was approved and has moved since is in review again, whether or not anybody leads the queue. */
async function backIfMoved(context: RunContext, id: TaskId): Promise<void> {
  const open = (await context.board.openLandings()).filter(({ task }) => task === id);
  await noticeMovedBranches(context, open);
}

/** Whose pull request is open is approved there: here it would land beside it. */
function refuseIfElsewhere({ id, state }: Task): Refused | undefined {
  if (state.status !== 'in_review' || state.pullRequest === null) return undefined;
  const { pullRequest } = state;
  if (pullRequest.is !== 'open' && pullRequest.is !== 'wanted') return undefined;
  if (pullRequest.is === 'wanted' && pullRequest.isPushOnly) return undefined;
  const where = addressOf(pullRequest);
  const reason = `${id} lands by its pull request${where === null ? '' : `, which is approved and merged at ${where}`}.`;
  return refused('wrong_status', reason, `copse merge ${id} (lands it here all the same)`);
}

/** Back to its agent, with what is to change. */
export async function sendBack(
  context: RunContext,
  id: TaskId,
  comment: string,
  unusable: readonly { readonly name: string; readonly reason: string }[],
): Promise<Outcome<GoneOn>> {
  if (context.by.kind === 'session') return refusal(forPeople(id));
  if (comment.trim() === '') {
    const reason = `${id} is not sent back without a comment: its agent would not know what to change.`;
    return refusal(refused('invalid', reason, `copse review ${id} --send-back "what is to change"`));
  }
  const task = await context.board.get('task', id);
  const refusedNow = task && (refuseInQueue(task) ?? refuseUnlessAllowed(task, 'resume'));
  const nobody = task && (await refuseUnlessHere(context, task, unusable));
  const first = refusedNow ?? nobody;
  if (first) return refusal(first);
  // Before the agent begins, so that it is part of what it is told, now and later.
  const noted = await addLedgerEntry(context, id, { kind: 'decision', text: `Review: ${comment}` });
  return noted.ok ? resumeTask(context, id, comment) : noted;
}

function refuseInQueue({ id, state }: Task): Refused | undefined {
  if (state.status !== 'landing') return undefined;
  return refused('wrong_status', `${id} is in the queue.`, `copse queue cancel ${id}`, `copse why ${id}`);
}

/** The agent whose work it is has to be able to run here. */
async function refuseUnlessHere(
  context: RunContext,
  { id, session: sessionId }: Task,
  unusable: readonly { readonly name: string; readonly reason: string }[],
): Promise<Refused | undefined> {
  const session = sessionId === null ? undefined : await context.board.get('session', sessionId);
  if (session === undefined || agentNamed(context, session.agent) !== undefined) return undefined;
  const { agent } = session;
  const why = unusable.find(({ name }) => name === agent)?.reason;
  const reason =
    why === undefined
      ? `${id} was worked on by ${agent}, which is no agent of this repository: nobody was told.`
      : `${id} cannot go back to ${agent}, which cannot run here: ${why}`;
  const next = [`copse work ${id} --resume (by hand)`, `copse resume ${id} --message "…" (another agent)`];
  return refused('wrong_status', reason, ...(next as [string, ...string[]]));
}

function forPeople(id: TaskId): Refused {
  const reason = `A session cannot review ${id}: what lands is for people to say.`;
  return refused(
    'not_this_session',
    reason,
    'copse stuck --reason "what a person should do"',
    'copse finish',
  );
}
