/**
 * Work travels while it is made: the runner pushes snapshots of the worktree to the remote, so that another machine can go on
 * with it. After every commit, at the end of every turn and of the attempt, and at the latest `travel.everyMs` after a change.
 *
 * A snapshot counts when the board has it: first the push, then the event. When nothing changed, neither happens. A remote
 * that is away stops nothing except the end of finished work, which waits for it (`finished`).
 */

import { backoffMs } from '../../../kernel/backoff.ts';
import { decided } from '../../../kernel/decision.ts';
import type { AttemptId, BranchName, CommitId, Timestamp } from '../../../kernel/ids.ts';
import { listed } from '../../../kernel/text.ts';
import type { RemoteFailure, TravelSnapshot } from '../../../git/port.ts';
import { type Outcome, change } from '../../../board/context.ts';
import { isFinished } from '../../../tasks/rules/task.ts';
import { sharesWork } from '../../../workspaces/act/shared/share-work.ts';
import type { AttemptContext } from '../context.ts';
import { type FinishedHead, type RunningAttempt, type WorkTravel, asNode } from '../surroundings.ts';

type Captured = Extract<TravelSnapshot, { kind: 'captured' }>;

export async function openTravel(attempt: Omit<RunningAttempt, 'travel'>): Promise<Travel | null> {
  const { context, worktree, prepared } = attempt;
  const branch = prepared.workspace.worktree?.branch;
  if (worktree === null || branch === undefined || !(await sharesWork(context))) return null;
  return new Travel(attempt, worktree, branch);
}

/** On the board, where other machines see it too. Null: it is over. */
export async function saysProblem(
  context: AttemptContext,
  id: AttemptId,
  problem: string | null,
): Promise<void> {
  if (problem !== null) context.log(problem);
  const said = await change(asNode(context), async (change) => {
    const known = (await change.board.get('attempt', id))?.travelProblem ?? null;
    if (known === problem) return;
    await change.apply(decided({ type: 'attempt.travel_problem', id, at: change.at, problem }));
  });
  if (said.kind === 'refused') context.log(said.refusal.reason);
}

class Travel implements WorkTravel {
  readonly #attempt: Omit<RunningAttempt, 'travel'>;
  readonly #worktree: string;
  readonly #branch: BranchName;
  readonly #over = new AbortController();
  #known: string | null = null;
  /** The last one that the remote took, whether the board has it or not. */
  #last: CommitId | null = null;
  #lastHead: CommitId | null = null;
  #failures = 0;
  #notBeforeMs = -Infinity;
  #problem: string | null = null;
  #busy: Promise<unknown> = Promise.resolve();
  #looping: Promise<void> = Promise.resolve();

  constructor(attempt: Omit<RunningAttempt, 'travel'>, worktree: string, branch: BranchName) {
    this.#attempt = attempt;
    this.#worktree = worktree;
    this.#branch = branch;
  }

  /** Until `stop`. */
  start(): void {
    this.#looping = this.#loop();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#looping;
    await this.#busy;
  }

  /** A snapshot now, if something changed and the remote was not just away. Never throws. */
  now(timeoutMs?: number): Promise<void> {
    const done = this.#busy.then(() => this.#try(timeoutMs));
    this.#busy = done;
    return done;
  }

  /**
   * For a runner that lost its task or stops: its last snapshot goes beside that of the next attempt. It is recorded for this
   * machine, because the session may record nothing any more.
   */
  async last(): Promise<void> {
    const { context, orders } = this.#attempt;
    const status = await context.board.statuses([orders.task]).then(
      (known) => known.get(orders.task) ?? 'cancelled',
      () => 'in_progress' as const,
    );
    if (isFinished(status)) return;
    this.#notBeforeMs = -Infinity;
    await this.now(context.policy.travel.lastMs);
  }

  /** Waits until the remote has the finished commit. A remote that refuses it would refuse it again. */
  async finished(head: CommitId): Promise<FinishedHead> {
    const { context, lost } = this.#attempt;
    const { clock, policy } = context;
    await this.stop();
    for (;;) {
      if (lost.aborted) return { kind: 'lost' };
      const pushed = await this.#pushFinished(head);
      if (pushed.kind === 'pushed') return { kind: 'travelled', note: null };
      if (pushed.because !== 'unreachable') {
        const note = `Only this machine can land it, because the remote did not take it: ${pushed.reason}`;
        return { kind: 'travelled', note };
      }
      this.#failures += 1;
      await this.#say(`It is finished and waits for the remote: ${pushed.reason}`);
      const { firstAgainMs: firstMs, mostAgainMs: mostMs } = policy.travel;
      await clock.sleep(backoffMs(this.#failures, { firstMs, mostMs }), lost);
    }
  }

  async #pushFinished(head: CommitId): Promise<{ readonly kind: 'pushed' } | RemoteFailure> {
    const { context } = this.#attempt;
    const at = context.clock.now();
    const seen = await this.#capture();
    if (seen.kind === 'unchanged' && seen.head === head && this.#known === seen.mark)
      return { kind: 'pushed' };
    const mine = seen.kind === 'captured' && seen.head === head ? seen.commit : undefined;
    const { task } = this.#attempt.orders;
    const commit = mine ?? (await context.rescues.wrap({ task, head, at, previous: this.#last }));
    const pushed = await this.#push(commit);
    if (pushed.kind === 'pushed') await this.#record(commit, head, at);
    return pushed;
  }

  async #loop(): Promise<void> {
    const { context } = this.#attempt;
    const { clock, policy, git } = context;
    const { everyMs, lookEveryMs } = policy.travel;
    let [stamp, lookedMs] = ['', -Infinity];
    while (!this.#over.signal.aborted) {
      const now = clock.elapsedMs();
      const found = git.headStamp(this.#worktree);
      if ((found !== stamp || now - lookedMs >= everyMs / 2) && now >= this.#notBeforeMs) {
        [stamp, lookedMs] = [found, now];
        await this.now();
      }
      await clock.sleep(Math.min(lookEveryMs, everyMs / 2), this.#over.signal);
    }
  }

  async #try(timeoutMs?: number): Promise<void> {
    const { context } = this.#attempt;
    const at = context.clock.now();
    try {
      const seen = await this.#capture();
      if (seen.kind === 'no_commit') return;
      if (seen.kind === 'captured' && !this.#isUntouched(seen)) {
        const problem = await this.#send(seen, at, timeoutMs);
        if (problem !== null) return await this.#fail(problem);
      }
      this.#failures = 0;
      await this.#say(seen.left.length === 0 ? null : leftText(seen.left, context.policy.travel));
    } catch (error) {
      // The next look tries again; files change while they are read.
      context.log(`No snapshot of the worktree: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #capture(): Promise<TravelSnapshot> {
    const { context, orders } = this.#attempt;
    if (context.agent.sandbox !== 'none') await context.git.stores.bring(orders.task);
    return context.rescues.travelling({
      task: orders.task,
      worktree: this.#worktree,
      branch: this.#branch,
      at: context.clock.now(),
      known: this.#known,
      previous: this.#last,
    });
  }

  /** The base as it was: there is nothing to go on from. */
  #isUntouched({ isClean, head }: Captured): boolean {
    const base = this.#attempt.prepared.workspace.worktree?.baseCommit;
    return isClean && head === base && this.#known === null;
  }

  /** Why it did not reach the remote; null if it did. */
  async #send(seen: Captured, at: Timestamp, timeoutMs?: number): Promise<string | null> {
    const { context } = this.#attempt;
    const { pushBytes } = context.policy.travel;
    // What is uncommitted is bounded already.
    const isCommitted = seen.head !== this.#lastHead;
    const bytes = isCommitted
      ? await context.git.work.newBytes(seen.commit, this.#last === null ? [] : [this.#last])
      : 0;
    if (bytes > pushBytes) {
      const size = `${Math.round(bytes / MEGABYTE)} MB, more than the ${Math.round(pushBytes / MEGABYTE)} MB`;
      return `Its work is not on the remote: it has ${size} of a snapshot. It is pushed when it is finished.`;
    }
    const pushed = await this.#push(seen.commit, timeoutMs);
    if (pushed.kind === 'failed') return `Its work is not on the remote: ${pushed.reason}`;
    await this.#record(seen.commit, seen.head, at);
    this.#known = seen.mark;
    this.#lastHead = seen.head;
    return null;
  }

  async #push(commit: CommitId, timeoutMs?: number): Promise<{ readonly kind: 'pushed' } | RemoteFailure> {
    const { context, orders } = this.#attempt;
    const { task, token } = orders;
    const pushed = await context.git.work.push({ task, token }, commit, timeoutMs);
    if (pushed.kind === 'pushed') this.#last = commit;
    return pushed;
  }

  async #fail(problem: string): Promise<void> {
    const { clock, policy } = this.#attempt.context;
    const { firstAgainMs: firstMs, mostAgainMs: mostMs } = policy.travel;
    this.#failures += 1;
    this.#notBeforeMs = clock.elapsedMs() + backoffMs(this.#failures, { firstMs, mostMs });
    await this.#say(problem);
  }

  /** Throws when the board cannot be reached: then the same snapshot is pushed and recorded again. */
  async #record(commit: CommitId, head: CommitId, readAt: Timestamp): Promise<void> {
    const { context, orders } = this.#attempt;
    const recorded = await change(asNode(context), async (change) => {
      const of = { id: orders.attempt, at: change.at };
      await change.apply(decided({ type: 'attempt.snapshotted', ...of, commit, head, readAt }));
    });
    this.#tell(recorded);
  }

  /** Each text once. */
  async #say(problem: string | null): Promise<void> {
    if (problem === this.#problem) return;
    this.#problem = problem;
    await saysProblem(this.#attempt.context, this.#attempt.orders.attempt, problem);
  }

  #tell(outcome: Outcome<unknown>): void {
    if (outcome.kind === 'refused') this.#attempt.context.log(outcome.refusal.reason);
  }
}

const MEGABYTE = 1024 ** 2;

function leftText(left: readonly string[], { fileBytes }: { readonly fileBytes: number }): string {
  const why = `they are larger than ${Math.round(fileBytes / MEGABYTE)} MB, too many, or look like secrets`;
  return `These changed files stay on this machine, because ${why}:\n${listed(left)}`;
}
