/**
 * Follows pull requests until they are merged: then the task is done, whoever waited for it goes on, and its worktree goes.
 *
 * Each is looked at once in a while and not on every pass; one that could not be opened or seen is tried again after ever longer
 * times; and a limit of the forge is waited for by all. Nothing of this is on the board, because whoever comes next may as well
 * look at once. Where nobody can be asked, what the remote's target contains tells.
 */

import { backoffMs } from '../../kernel/backoff.ts';
import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { PullRequestFacts } from '../port.ts';
import { recordChange, recordMerged, type Submitted, submittedOf } from './pull-request-record.ts';
import {
  type Attended,
  type PullRequestStep,
  isPushOnly,
  openPullRequest,
  openPushed,
  recordSeen,
} from './pull-request-open.ts';
import { removeWorkspace } from '../../workspaces/discard/remove.ts';
import type { RunContext } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

export interface PullRequestWork {
  readonly task: TaskId;
  readonly work: () => Promise<void>;
}

/** What a loop remembers between its passes. */
export class PullRequests {
  readonly #context: RunContext;
  readonly #onProblem: (task: TaskId, reason: string) => void;
  /** By task and what was submitted: a task that comes back is looked at at once. */
  readonly #next = new Map<string, { readonly atMs: number; readonly failures: number }>();
  #limitedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(context: RunContext, onProblem: (task: TaskId, reason: string) => void) {
    this.#context = context;
    this.#onProblem = onProblem;
  }

  /** Those that it is time for; each may be done beside others, and is due until it was. */
  async due(): Promise<readonly PullRequestWork[]> {
    const { board, clock } = this.#context;
    const tasks = await board.tasks({ statuses: ['in_review'], order: 'urgent' });
    const now = clock.elapsedMs();
    const known = new Set<string>();
    const due: PullRequestWork[] = [];
    for (const { id, state } of tasks) {
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
    if (attended.is === 'failed') {
      this.#onProblem(id, attended.reason);
      const againMs = backoffMs(failures + 1, { firstMs: firstAgainMs, mostMs: mostAgainMs });
      this.#next.set(key, { atMs: now + againMs, failures: failures + 1 });
      if (attended.until !== null) this.#limitedUntilMs = now + Math.max(0, attended.until - clock.now());
      return;
    }
    const isClosed = attended.is === 'seen' && attended.facts?.state === 'closed';
    this.#next.set(key, { atMs: now + (isClosed ? closedLookEveryMs : lookEveryMs), failures: 0 });
    if (attended.is === 'seen' && attended.facts?.state === 'merged') await this.#release(id);
  }

  async #release(task: TaskId): Promise<void> {
    const removed = await removeWorkspace(this.#context, task, { by: 'landing' });
    if (removed.kind === 'refused') this.#onProblem(task, removed.reason);
  }
}

/** One look at one of them; safe to repeat, and alone on this node. */
export async function attendPullRequest(
  context: RunContext,
  id: TaskId,
  onStep?: (step: PullRequestStep) => void,
): Promise<Attended> {
  const done = await context.git.tryLock(`pull-request-${id}`, async () => {
    const submitted = submittedOf(await context.board.get('task', id));
    // The branch is where the worktree is.
    if (submitted === undefined || (await isElsewhere(context, id))) return { is: 'gone' } as const;
    const attended = await look(context, submitted, onStep);
    if (attended.is !== 'seen' || attended.facts?.state !== 'merged') return attended;
    return finish(context, submitted, attended.facts);
  });
  return done?.value ?? { is: 'gone' };
}

async function isElsewhere(context: RunContext, task: TaskId): Promise<boolean> {
  if ((await workspaceOf(context, task)) !== undefined) return false;
  const all = await context.board.list('workspace', { task });
  return all.some(({ node, disposition }) => node !== context.node && disposition.is !== 'released');
}

async function look(
  context: RunContext,
  submitted: Submitted,
  onStep?: (step: PullRequestStep) => void,
): Promise<Attended> {
  const { pullRequest } = submitted;
  switch (pullRequest.is) {
    case 'wanted':
      return openPullRequest(context, submitted, onStep);
    case 'given_up':
      return { is: 'gone' };
    case 'pushed': {
      if (isPushOnly(submitted)) return followTarget(context, submitted);
      const { attended, isUnknown } = await openPushed(context, submitted, pullRequest.url);
      return isUnknown ? followTarget(context, submitted) : attended;
    }
    case 'open':
    case 'closed': {
      const looked = await context.forge.look(pullRequest);
      if (looked.found) return recordSeen(context, submitted, looked.facts);
      if (looked.because === 'unknown') return followTarget(context, submitted);
      const { reason, until, because } = looked;
      // What passes by itself is told to whoever watches; what does not is for whoever asks later, too.
      const isLasting = because !== 'unreachable' && because !== 'rate_limited';
      if (isLasting) await recordChange(context, submitted, { ...pullRequest, note: reason });
      return { is: 'failed', reason, until };
    }
    default:
      throw new Error(`A pull request cannot be ${String(pullRequest satisfies never)}`);
  }
}

/** Without anybody to ask: merged is what the remote's target has all of. */
async function followTarget(context: RunContext, submitted: Submitted): Promise<Attended> {
  const { head, pullRequest } = submitted;
  const { branch, target } = pullRequest;
  const brought = await bringTarget(context, target);
  if ('reason' in brought) return { is: 'failed', reason: brought.reason, until: null };
  const isAncestor = await contains(context, brought.tip, head);
  if (!isAncestor && !(await hasContent(context, submitted, brought.tip))) return { is: 'seen', facts: null };
  const gone = await recordMerged(context, submitted, { commit: isAncestor ? head : null, hasAll: true });
  if (gone !== undefined) return { is: 'gone' };
  const [url, number] = 'number' in pullRequest ? [pullRequest.url, pullRequest.number] : [branch, 0];
  return { is: 'seen', facts: { state: 'merged', commit: null, head, target, url, number } };
}

/** The target of the remote has to be here first: whoever goes on begins from it. */
async function finish(
  context: RunContext,
  submitted: Submitted,
  facts: Extract<PullRequestFacts, { state: 'merged' }>,
): Promise<Attended> {
  if (submittedOf(await context.board.get('task', submitted.task.id)) === undefined)
    return { is: 'seen', facts };
  const { commit, target } = facts;
  const brought = await bringTarget(context, target);
  if ('reason' in brought) return { is: 'failed', reason: brought.reason, until: null };
  if (commit !== null && !(await contains(context, brought.tip, commit))) {
    const reason = `Its pull request was merged as ${commit.slice(0, 12)}, which ${target} of the remote does not have yet.`;
    return { is: 'failed', reason, until: null };
  }
  const hasAll = await hasSubmitted(context, submitted, facts, brought.tip);
  const gone = await recordMerged(context, submitted, { commit, hasAll });
  return gone === undefined ? { is: 'seen', facts } : { is: 'gone' };
}

/** Others may have pushed to it, even without what was submitted: then the branch here stays. */
async function hasSubmitted(
  context: RunContext,
  submitted: Submitted,
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
  if (!fetched.fetched) return { reason: fetched.reason };
  const remote = await git.remoteName();
  const tip = remote && (await git.tip(`refs/remotes/${remote}/${target}`));
  return tip ? { tip } : { reason: `The remote has no branch ${target}.` };
}

/** By their nearest common commit: one that is not known here is in nothing. */
async function contains({ git }: RunContext, tip: CommitId, commit: CommitId): Promise<boolean> {
  return (await git.mergeBase(commit, tip)) === commit;
}

/** As other commits: merged once more, it would change nothing. */
async function hasContent(
  { merging, clock }: RunContext,
  { task, head, pullRequest: { branch, target } }: Submitted,
  tip: CommitId,
): Promise<boolean> {
  const { id, title, plan } = task;
  const of = { task: id, title, plan, branch, target, onto: tip, head, at: clock.now() };
  const candidate = await merging.build({ ...of, method: 'squash' });
  return candidate.built && candidate.commits === 0;
}
