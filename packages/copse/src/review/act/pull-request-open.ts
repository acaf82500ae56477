/**
 * Opens the pull request of a finished task.
 *
 *   wanted (recorded when the task finished) → push its branch → find an existing pull request, or open one → record
 *
 * After a kill at any step the next pass repeats all of it: the push is up to date, and the pull request is found by its branch.
 * `workspace.on_push_failure` decides about failures; nothing is undone.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { PullRequest } from '../rules/pull-request.ts';
import { describePullRequest } from '../rules/pull-request-text.ts';
import type { ForgeProblem, PullRequestLook, PullRequestFacts, PullRequestOrder } from '../port.ts';
import { type RunContext, agentNamed } from '../../queue/context.ts';
import { recordChange, recordGivenUp, type SubmittedTask } from './pull-request-record.ts';

export const pullRequestSteps = ['pushed', 'opened', 'recorded'] as const;
export type PullRequestStep = (typeof pullRequestSteps)[number];

export type Attended =
  /** Look again at the usual time. Null: the forge cannot be asked. */
  | { readonly kind: 'seen'; readonly facts: PullRequestFacts | null }
  /** Retry later; `until`: when the limit resets. */
  | { readonly kind: 'failed'; readonly reason: string; readonly until: ForgeProblem['until'] }
  /** The task has moved on, or another process looks at it. */
  | { readonly kind: 'gone' };

export async function openPullRequest(
  context: RunContext,
  submitted: SubmittedTask,
  onStep: (step: PullRequestStep) => void = () => {},
): Promise<Attended> {
  const order = await orderFor(context, submitted);
  const pushed = await push(context, order);
  if (pushed.kind === 'failed') {
    const { branch } = order;
    return fail(context, submitted, {
      reason: `${branch} could not be pushed: ${pushed.reason}`,
      until: null,
    });
  }
  onStep('pushed');
  if (isPushOnly(submitted)) return recordPushed(context, submitted, { hint: pushed.hint, reason: null });
  const looked = await context.forge.open(order, pushed.hint);
  onStep('opened');
  const attended = await recordOpened(context, submitted, looked);
  onStep('recorded');
  return attended;
}

/** For a pushed branch: a person may have opened a pull request, or logged in, meanwhile. */
export async function openPushed(
  context: RunContext,
  submitted: SubmittedTask,
  hint: string | null,
): Promise<{ readonly attended: Attended; readonly isUnknown: boolean }> {
  const looked = await context.forge.open(await orderFor(context, submitted), hint);
  if (looked.kind === 'found')
    return { attended: await recordSeen(context, submitted, looked.facts), isUnknown: false };
  if (looked.kind === 'unknown') return { attended: { kind: 'seen', facts: null }, isUnknown: true };
  const { reason, until } = looked;
  return { attended: { kind: 'failed', reason, until }, isUnknown: false };
}

async function orderFor(
  { board }: RunContext,
  { task, head, pullRequest }: SubmittedTask,
): Promise<PullRequestOrder> {
  const ledger = await board.list('ledger', { task: task.id });
  const { branch, target } = pullRequest;
  const summary = pullRequest.is === 'wanted' ? pullRequest.summary : null;
  return { branch, head, target, title: task.title, body: describePullRequest({ task, summary, ledger }) };
}

async function push(
  context: RunContext,
  order: PullRequestOrder,
): Promise<Awaited<ReturnType<RunContext['forge']['push']>>> {
  const pushed = await context.forge.push(order);
  // A rejected push is fine when others committed on top of ours: then the remote has it.
  const isThere =
    pushed.kind === 'failed' && pushed.because === 'rejected' && (await remoteHas(context, order));
  return isThere ? { kind: 'pushed', hint: null } : pushed;
}

async function remoteHas(
  { git }: RunContext,
  { branch, head }: { readonly branch: BranchName; readonly head: CommitId },
): Promise<boolean> {
  const remote = await git.remoteName();
  if (remote === undefined || (await git.fetch([branch])).kind === 'failed') return false;
  const tip = await git.tip(`refs/remotes/${remote}/${branch}`);
  return tip !== undefined && (await git.isAncestor(head, tip));
}

async function recordOpened(
  context: RunContext,
  submitted: SubmittedTask,
  looked: PullRequestLook,
): Promise<Attended> {
  if (looked.kind === 'found') return recordSeen(context, submitted, looked.facts);
  return looked.kind === 'unknown'
    ? recordPushed(context, submitted, looked)
    : fail(context, submitted, looked);
}

async function recordPushed(
  context: RunContext,
  submitted: SubmittedTask,
  { hint: url, reason: note }: { readonly hint: string | null; readonly reason: string | null },
): Promise<Attended> {
  const { branch, target } = submitted.pullRequest;
  const only = isPushOnly(submitted) ? ({ isPushOnly: true } as const) : {};
  const gone = await recordChange(context, submitted, { is: 'pushed', branch, target, url, note, ...only });
  return gone === undefined ? { kind: 'seen', facts: null } : { kind: 'gone' };
}

export function isPushOnly({ pullRequest }: SubmittedTask): boolean {
  return 'isPushOnly' in pullRequest && pullRequest.isPushOnly;
}

export async function recordSeen(
  context: RunContext,
  submitted: SubmittedTask,
  facts: PullRequestFacts,
): Promise<Attended> {
  const seen = describeSeen(submitted, facts);
  const gone = seen && (await recordChange(context, submitted, seen));
  return gone === undefined ? { kind: 'seen', facts } : { kind: 'gone' };
}

function describeSeen(
  { head, pullRequest }: SubmittedTask,
  facts: PullRequestFacts,
): PullRequest | undefined {
  const { branch } = pullRequest;
  const { url, number, target } = facts;
  const note =
    facts.head === head ? null : `another person pushed to it: it is at ${facts.head.slice(0, 12)}`;
  const of = { branch, target, note, url, number };
  switch (facts.state) {
    case 'open': {
      const { review, hasConflict } = facts;
      return { is: 'open', ...of, review, hasConflict };
    }
    case 'closed':
      return { is: 'closed', ...of, by: facts.by };
    case 'merged':
      return undefined;
    default:
      throw new Error(`A pull request cannot be ${String(facts satisfies never)}`);
  }
}

/** Acts by `on_push_failure`; after a rate limit it only waits. */
async function fail(
  context: RunContext,
  submitted: SubmittedTask,
  problem: Pick<ForgeProblem, 'reason' | 'until'> & { readonly because?: ForgeProblem['because'] },
): Promise<Attended> {
  const { reason, until } = problem;
  const { branch, target } = submitted.pullRequest;
  const onFailure = problem.because === 'rate_limited' ? 'retry' : await onPushFailure(context, submitted);
  const failed = { kind: 'failed', reason, until } as const;
  if (onFailure === 'fail') {
    const gone = await recordGivenUp(context, submitted, reason);
    return gone === undefined ? failed : { kind: 'gone' };
  }
  const of = { ...submitted.pullRequest, note: reason };
  const after: PullRequest = onFailure === 'warn' ? { is: 'given_up', branch, target, note: reason } : of;
  const gone = await recordChange(context, submitted, after);
  return gone === undefined ? failed : { kind: 'gone' };
}

async function onPushFailure(
  context: RunContext,
  { task }: SubmittedTask,
): Promise<RunContext['settings']['on_push_failure']> {
  const session = task.session === null ? undefined : await context.board.get('session', task.session);
  const agent = session && agentNamed(context, session.agent);
  return (agent?.workspace ?? context.settings).on_push_failure;
}
