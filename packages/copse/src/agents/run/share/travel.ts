/**
 * Work travels while it is made: the runner pushes snapshots of the worktree to the remote, so that another machine can go on
 * with it. After every commit, at the end of every turn and of the attempt, and at the latest `travel.everyMs` after a change.
 *
 * act/send-snapshot.ts sends one. A remote that is away stops nothing except the end of finished work, which waits for it
 * (`finished`).
 */

import { backoffMs } from '../../../kernel/backoff.ts';
import { decided } from '../../../kernel/decision.ts';
import type { AttemptId, CommitId } from '../../../kernel/ids.ts';
import { listed } from '../../../kernel/text.ts';
import type { TransferOptions } from '../../../git/port.ts';
import { change } from '../../../board/context.ts';
import { isFinished } from '../../../tasks/rules/task.ts';
import { sharesWork } from '../../../workspaces/act/shared/share-work.ts';
import { SnapshotSender } from '../../act/share/send-snapshot.ts';
import type { AttemptContext } from '../context.ts';
import { type FinishedHead, type RunningAttempt, type WorkTravel, asNode } from '../surroundings.ts';

export async function openTravel(attempt: Omit<RunningAttempt, 'travel'>): Promise<Travel | null> {
  const { context, worktree, prepared, orders } = attempt;
  const known = prepared.workspace.worktree;
  if (worktree === null || known === null || !(await sharesWork(context))) return null;
  const { task, token, attempt: id } = orders;
  const { branch, baseCommit } = known;
  const hasStore = context.agent.sandbox !== 'none';
  const of = { task, token, attempt: id, worktree, branch, baseCommit, hasStore };
  return new Travel(attempt, worktree, new SnapshotSender(context, of));
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
  readonly #sender: SnapshotSender;
  readonly #over = new AbortController();
  /** Ends the transfer of the loop, which may be a slow one. */
  #sending = new AbortController();
  #failures = 0;
  #notBeforeMs = -Infinity;
  #problem: string | null = null;
  #busy: Promise<unknown> = Promise.resolve();
  #looping: Promise<void> = Promise.resolve();

  constructor(attempt: Omit<RunningAttempt, 'travel'>, worktree: string, sender: SnapshotSender) {
    this.#attempt = attempt;
    this.#worktree = worktree;
    this.#sender = sender;
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

  /** A snapshot within this time, if something changed. Ends a transfer that lasts longer. Never throws. */
  now(timeoutMs: number): Promise<void> {
    this.#sending.abort();
    return this.#next({ timeoutMs });
  }

  #next(options: TransferOptions): Promise<void> {
    const done = this.#busy.then(() => this.#try(options));
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
      const pushed = await this.#sender.sendFinished(head, { signal: lost });
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

  async #loop(): Promise<void> {
    const { context, lost } = this.#attempt;
    const { clock, policy, git } = context;
    const { everyMs, lookEveryMs } = policy.travel;
    let [stamp, lookedMs] = ['', -Infinity];
    while (!this.#over.signal.aborted) {
      const now = clock.elapsedMs();
      const found = git.headStamp(this.#worktree);
      if ((found !== stamp || now - lookedMs >= everyMs / 2) && now >= this.#notBeforeMs) {
        [stamp, lookedMs] = [found, now];
        this.#sending = new AbortController();
        const signal = AbortSignal.any([this.#sending.signal, this.#over.signal, lost]);
        await this.#next({ signal });
      }
      await clock.sleep(Math.min(lookEveryMs, everyMs / 2), this.#over.signal);
    }
  }

  async #try(options: TransferOptions): Promise<void> {
    const { context } = this.#attempt;
    try {
      const sent = await this.#sender.send(options);
      if (sent.kind === 'empty') return;
      if (sent.kind === 'failed') return await this.#fail(`Its work is not on the remote: ${sent.reason}`);
      if (sent.refused !== null) context.log(sent.refused);
      this.#failures = 0;
      const { left } = sent.seen;
      await this.#say(left.length === 0 ? null : leftText(left, context.policy.travel));
    } catch (error) {
      // The next look tries again; files change while they are read.
      context.log(`No snapshot of the worktree: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #fail(problem: string): Promise<void> {
    const { clock, policy } = this.#attempt.context;
    const { firstAgainMs: firstMs, mostAgainMs: mostMs } = policy.travel;
    this.#failures += 1;
    this.#notBeforeMs = clock.elapsedMs() + backoffMs(this.#failures, { firstMs, mostMs });
    await this.#say(problem);
  }

  /** Each text once. */
  async #say(problem: string | null): Promise<void> {
    if (problem === this.#problem) return;
    this.#problem = problem;
    await saysProblem(this.#attempt.context, this.#attempt.orders.attempt, problem);
  }
}

const MEGABYTE = 1024 ** 2;

function leftText(left: readonly string[], { fileBytes }: { readonly fileBytes: number }): string {
  const why = `they are larger than ${Math.round(fileBytes / MEGABYTE)} MB, too many, or look like secrets`;
  return `These changed files stay on this machine, because ${why}:\n${listed(left)}`;
}
