/**
 * Opens the pull request of a task that is finished.
 *
 *   the task wants one (recorded when it finished) → push its branch → find the pull request that is there, or open one → record
 *
 * Killed anywhere, the next look does all of it again: what is pushed is pushed already, and what was opened is found by its
 * branch. What fails is as `workspace.on_push_failure` says; nothing is taken back for it.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { PullRequest } from '../rules/pull-request.ts';
import { describePullRequest } from '../rules/pull-request-text.ts';
import type { ForgeProblem, Looked, PullRequestFacts, PullRequestOrder } from '../port.ts';
import { type RunContext, agentNamed } from '../../queue/context.ts';
import { recordChange, recordGivenUp, type Submitted } from './pull-request-record.ts';

export const pullRequestSteps = ['pushed', 'opened', 'recorded'] as const;
export type PullRequestStep = (typeof pullRequestSteps)[number];

export type Attended =
  /** As far as can be seen: look again at the usual time. */
  | { readonly is: 'seen'; readonly facts: PullRequestFacts | null }
  /** Try again sooner or later; `until`, when a limit lifts. */
  | { readonly is: 'failed'; readonly reason: string; readonly until: ForgeProblem['until'] }
  /** The task is somewhere else by now, or another process is at it. */
  | { readonly is: 'gone' };

export async function openPullRequest(
  context: RunContext,
  submitted: Submitted,
  onStep: (step: PullRequestStep) => void = () => {},
): Promise<Attended> {
  const order = await orderFor(context, submitted);
  const pushed = await push(context, order);
  if (!pushed.pushed) {
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

/** Of one that is pushed: somebody may have opened one meanwhile, or logged in. */
export async function openPushed(
  context: RunContext,
  submitted: Submitted,
  hint: string | null,
): Promise<{ readonly attended: Attended; readonly isUnknown: boolean }> {
  const looked = await context.forge.open(await orderFor(context, submitted), hint);
  if (looked.found) return { attended: await recordSeen(context, submitted, looked.facts), isUnknown: false };
  if (looked.because === 'unknown') return { attended: { is: 'seen', facts: null }, isUnknown: true };
  const { reason, until } = looked;
  return { attended: { is: 'failed', reason, until }, isUnknown: false };
}

async function orderFor(
  { board }: RunContext,
  { task, head, pullRequest }: Submitted,
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
  // Others may have gone on from what was pushed before: then it is there.
  const isThere = !pushed.pushed && pushed.because === 'rejected' && (await remoteHas(context, order));
  return isThere ? { pushed: true, hint: null } : pushed;
}

async function remoteHas(
  { git }: RunContext,
  { branch, head }: { readonly branch: BranchName; readonly head: CommitId },
): Promise<boolean> {
  const remote = await git.remoteName();
  if (remote === undefined || !(await git.fetch([branch])).fetched) return false;
  const tip = await git.tip(`refs/remotes/${remote}/${branch}`);
  return tip !== undefined && (await git.isAncestor(head, tip));
}

async function recordOpened(context: RunContext, submitted: Submitted, looked: Looked): Promise<Attended> {
  if (looked.found) return recordSeen(context, submitted, looked.facts);
  return looked.because === 'unknown'
    ? recordPushed(context, submitted, looked)
    : fail(context, submitted, looked);
}

async function recordPushed(
  context: RunContext,
  submitted: Submitted,
  { hint: url, reason: note }: { readonly hint: string | null; readonly reason: string | null },
): Promise<Attended> {
  const { branch, target } = submitted.pullRequest;
  const only = isPushOnly(submitted) ? ({ isPushOnly: true } as const) : {};
  const gone = await recordChange(context, submitted, { is: 'pushed', branch, target, url, note, ...only });
  return gone === undefined ? { is: 'seen', facts: null } : { is: 'gone' };
}

export function isPushOnly({ pullRequest }: Submitted): boolean {
  return 'isPushOnly' in pullRequest && pullRequest.isPushOnly;
}

export async function recordSeen(
  context: RunContext,
  submitted: Submitted,
  facts: PullRequestFacts,
): Promise<Attended> {
  const seen = describeSeen(submitted, facts);
  const gone = seen && (await recordChange(context, submitted, seen));
  return gone === undefined ? { is: 'seen', facts } : { is: 'gone' };
}

function describeSeen({ head, pullRequest }: Submitted, facts: PullRequestFacts): PullRequest | undefined {
  const { branch } = pullRequest;
  const { url, number, target } = facts;
  const note = facts.head === head ? null : `somebody pushed to it: it is at ${facts.head.slice(0, 12)}`;
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

/** As configured; a limit is only waited for. */
async function fail(
  context: RunContext,
  submitted: Submitted,
  problem: Pick<ForgeProblem, 'reason' | 'until'> & { readonly because?: ForgeProblem['because'] },
): Promise<Attended> {
  const { reason, until } = problem;
  const { branch, target } = submitted.pullRequest;
  const onFailure = problem.because === 'rate_limited' ? 'retry' : await onPushFailure(context, submitted);
  const failed = { is: 'failed', reason, until } as const;
  if (onFailure === 'fail') {
    const gone = await recordGivenUp(context, submitted, reason);
    return gone === undefined ? failed : { is: 'gone' };
  }
  const of = { ...submitted.pullRequest, note: reason };
  const after: PullRequest = onFailure === 'warn' ? { is: 'given_up', branch, target, note: reason } : of;
  const gone = await recordChange(context, submitted, after);
  return gone === undefined ? failed : { is: 'gone' };
}

async function onPushFailure(
  context: RunContext,
  { task }: Submitted,
): Promise<RunContext['settings']['on_push_failure']> {
  const session = task.session === null ? undefined : await context.board.get('session', task.session);
  const agent = session && agentNamed(context, session.agent);
  return (agent?.workspace ?? context.settings).on_push_failure;
}
