/**
 * Follows pull requests until they are merged: then the task is done, its dependants may start, and its worktree is removed.
 *
 * Each one is looked at every few minutes; after a failure with exponential backoff; and after a rate limit of the forge all of
 * them wait. These times are not on the board: a new orchestrator looks at once. Without access to the forge, the content of
 * the remote's target tells whether the work was merged.
 */

import { backoffMs } from '../../kernel/backoff.ts';
import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { ForgeProblem, PullRequestFacts } from '../port.ts';
import { recordChange, recordMerged, type SubmittedTask, submittedOf } from './pull-request-record.ts';
import {
  type Attended,
  type PullRequestStep,
  isPushOnly,
  openPullRequest,
  openPushed,
  recordSeen,
} from './pull-request-open.ts';
import { removeLanded } from '../../workspaces/discard/remove-landed.ts';
import type { RunContext } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

export interface PullRequestWork {
  readonly task: TaskId;
  readonly work: () => Promise<void>;
}

/** The times of the next looks, which an orchestrator keeps from pass to pass. */
export class PullRequests {
  readonly #context: RunContext;
  readonly #onProblem: (task: TaskId, reason: string) => void;
  /** By task and submitted head: a task that is submitted again is looked at immediately. */
  readonly #next = new Map<string, { readonly atMs: number; readonly failures: number }>();
  #limitedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(context: RunContext, onProblem: (task: TaskId, reason: string) => void) {
    this.#context = context;
    this.#onProblem = onProblem;
  }

  /** Those whose time has come. They may run in parallel, and stay due until they ran. */
  async due(): Promise<readonly PullRequestWork[]> {
    const { board, clock } = this.#context;
    const tasks = await board.tasks({ statuses: ['in_review'], order: 'urgent' });
    const now = clock.elapsedMs();
    const known = new Set<string>();
    const due: PullRequestWork[] = [];
    for (const { id, state, repository } of tasks) {
      if (repository !== undefined) continue;
      if (state.status !== 'in_review' || state.pullRequest === null) continue;
      if (state.pullRequest.is === 'given_up') continue;
      const key = `${id} ${state.head}`;
      known.add(key);
      const next = this.#next.get(key);
      if (now < Math.max(next?.atMs ?? now, this.#limitedUntilMs)) continue;
      due.push({ task: id, work: () => this.#attend(id, key, next?.failures ?? 0) });
    }
    for (const key of this.#next.keys()) if (!known.has(key)) this.#next.delete(key);
    return due;
  }

  async #attend(id: TaskId, key: string, failures: number): Promise<void> {
    const { clock, policy } = this.#context;
    const { lookEveryMs, closedLookEveryMs, firstAgainMs, mostAgainMs } = policy.pullRequest;
    const attended = await attendPullRequest(this.#context, id);
    const now = clock.elapsedMs();
    if (attended.kind === 'failed') {
      this.#onProblem(id, attended.reason);
      const againMs = backoffMs(failures + 1, { firstMs: firstAgainMs, mostMs: mostAgainMs });
      this.#next.set(key, { atMs: now + againMs, failures: failures + 1 });
      if (attended.until !== null) this.#limitedUntilMs = now + Math.max(0, attended.until - clock.now());
      return;
    }
    const isClosed = attended.kind === 'seen' && attended.facts?.state === 'closed';
    this.#next.set(key, { atMs: now + (isClosed ? closedLookEveryMs : lookEveryMs), failures: 0 });
    if (attended.kind === 'seen' && attended.facts?.state === 'merged') await this.#release(id);
  }

  async #release(task: TaskId): Promise<void> {
    const removed = await removeLanded(this.#context, task);
    if (removed.kind === 'refused') this.#onProblem(task, removed.reason);
  }
}

/** Looks at one pull request once, under a lock of this node. Safe to repeat. */
export async function attendPullRequest(
  context: RunContext,
  id: TaskId,
  onStep?: (step: PullRequestStep) => void,
): Promise<Attended> {
  const done = await context.git.tryLock(`pull-request-${id}`, async () => {
    const submitted = submittedOf(await context.board.get('task', id));
    // Another node has the worktree, and with it the branch.
    if (submitted === undefined || (await isElsewhere(context, id))) return { kind: 'gone' } as const;
    const attended = await look(context, submitted, onStep);
    if (attended.kind !== 'seen' || attended.facts?.state !== 'merged') return attended;
    return finish(context, submitted, attended.facts);
  });
  return done?.value ?? { kind: 'gone' };
}

async function isElsewhere(context: RunContext, task: TaskId): Promise<boolean> {
  if ((await workspaceOf(context, task)) !== undefined) return false;
  const all = await context.board.list('workspace', { task });
  return all.some(({ node, disposition }) => node !== context.node && disposition.is !== 'released');
}

async function look(
  context: RunContext,
  submitted: SubmittedTask,
  onStep?: (step: PullRequestStep) => void,
): Promise<Attended> {
  const { pullRequest } = submitted;
  switch (pullRequest.is) {
    case 'wanted':
      return openPullRequest(context, submitted, onStep);
    case 'given_up':
      return { kind: 'gone' };
    case 'pushed': {
      if (isPushOnly(submitted)) return followTarget(context, submitted);
      const { attended, isUnknown } = await openPushed(context, submitted, pullRequest.url);
      return isUnknown ? followTarget(context, submitted) : attended;
    }
    case 'open':
    case 'closed': {
      const looked = await context.forge.look(pullRequest);
      if (looked.kind === 'found') return recordSeen(context, submitted, looked.facts);
      if (looked.kind === 'unknown') return followTarget(context, submitted);
      const { reason, until, because } = looked;
      if (IS_LASTING[because]) await recordChange(context, submitted, { ...pullRequest, note: reason });
      return { kind: 'failed', reason, until };
    }
    default:
      throw new Error(`A pull request cannot be ${String(pullRequest satisfies never)}`);
  }
}

/** Whether a person has to fix it: then it is recorded with the task, too. */
const IS_LASTING: Readonly<Record<ForgeProblem['because'], boolean>> = {
  not_authorised: true,
  not_found: true,
  refused: true,
  rate_limited: false,
  unreachable: false,
};

/** Without access to the forge: it is merged when the remote's target contains the work. */
async function followTarget(context: RunContext, submitted: SubmittedTask): Promise<Attended> {
  const { head, pullRequest } = submitted;
  const { branch, target } = pullRequest;
  const brought = await bringTarget(context, target);
  if ('reason' in brought) return { kind: 'failed', reason: brought.reason, until: null };
  const isAncestor = await contains(context, brought.tip, head);
  if (!isAncestor && !(await hasContent(context, submitted, brought.tip)))
    return { kind: 'seen', facts: null };
  const gone = await recordMerged(context, submitted, { commit: isAncestor ? head : null, hasAll: true });
  if (gone !== undefined) return { kind: 'gone' };
  const [url, number] = 'number' in pullRequest ? [pullRequest.url, pullRequest.number] : [branch, 0];
  return { kind: 'seen', facts: { state: 'merged', commit: null, head, target, url, number } };
}

/** Fetches the remote's target first, because dependants begin from it. */
async function finish(
  context: RunContext,
  submitted: SubmittedTask,
  facts: Extract<PullRequestFacts, { state: 'merged' }>,
): Promise<Attended> {
  if (submittedOf(await context.board.get('task', submitted.task.id)) === undefined)
    return { kind: 'seen', facts };
  const { commit, target } = facts;
  const brought = await bringTarget(context, target);
  if ('reason' in brought) return { kind: 'failed', reason: brought.reason, until: null };
  if (commit !== null && !(await contains(context, brought.tip, commit))) {
    const reason = `Its pull request was merged as ${commit.slice(0, 12)}, which the remote's ${target} does not contain yet.`;
    return { kind: 'failed', reason, until: null };
  }
  const hasAll = await hasSubmitted(context, submitted, facts, brought.tip);
  const gone = await recordMerged(context, submitted, { commit, hasAll });
  return gone === undefined ? { kind: 'seen', facts } : { kind: 'gone' };
}

/** Others may have replaced the submitted commits on the branch: then the local branch is kept. */
async function hasSubmitted(
  context: RunContext,
  submitted: SubmittedTask,
  facts: PullRequestFacts,
  tip: CommitId,
): Promise<boolean> {
  const { head } = submitted;
  if (facts.head === head || (await contains(context, tip, head))) return true;
  const { branch } = submitted.pullRequest;
  await context.git.fetch([branch]);
  return (await contains(context, facts.head, head)) || hasContent(context, submitted, tip);
}

async function bringTarget(
  { git }: RunContext,
  target: BranchName,
): Promise<{ readonly tip: CommitId } | { readonly reason: string }> {
  const fetched = await git.fetch([target]);
  if (fetched.kind === 'failed') return { reason: fetched.reason };
  const remote = await git.remoteName();
  const tip = remote && (await git.tip(`refs/remotes/${remote}/${target}`));
  return tip ? { tip } : { reason: `The remote has no branch ${target}.` };
}

/** By the merge base: a commit that is not in this repository is contained in nothing. */
async function contains({ git }: RunContext, tip: CommitId, commit: CommitId): Promise<boolean> {
  return (await git.mergeBase(commit, tip)) === commit;
}

/** The content landed as other commits: merging it again would change nothing. */
async function hasContent(
  { merging, clock }: RunContext,
  { task, head, pullRequest: { branch, target } }: SubmittedTask,
  tip: CommitId,
): Promise<boolean> {
  const { id, title, plan } = task;
  const of = { task: id, title, plan, branch, target, onto: tip, head, at: clock.now() };
  const candidate = await merging.build({ ...of, method: 'squash' });
  return candidate.kind === 'built' && candidate.commits === 0;
}
