/**
 * Sends the work of one attempt to the remote: bring the agent's objects, capture the worktree, look at the size, push, record.
 *
 * First the push, then the event: a snapshot counts when the board has it. When nothing changed, neither happens.
 */

import { decided } from '../../../kernel/decision.ts';
import type { AttemptId, BranchName, CommitId, Timestamp } from '../../../kernel/ids.ts';
import type { RemoteFailure, TransferOptions, TravelSnapshot, WorkRef } from '../../../git/port.ts';
import { change } from '../../../board/context.ts';
import type { RunContext } from '../../../queue/context.ts';
import type { WorkSnapshot } from '../../../tasks/rules/attempt.ts';

export interface SharedAttempt extends WorkRef {
  readonly attempt: AttemptId;
  readonly worktree: string;
  /** The task's branch, and the commit that it began from. */
  readonly branch: BranchName;
  readonly baseCommit: CommitId | null;
  /** Its agent may write objects into a store of its own. */
  readonly hasStore: boolean;
}

type Captured = Extract<TravelSnapshot, { kind: 'captured' }>;
type SeenWork = Exclude<TravelSnapshot, { kind: 'no_commit' }>;

export type Sent =
  /** There is no commit to go on from. */
  | { readonly kind: 'empty' }
  /** The remote has it, by this call or an earlier one. */
  | { readonly kind: 'there'; readonly seen: SeenWork; readonly refused: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

export class SnapshotSender {
  readonly #context: RunContext;
  readonly #of: SharedAttempt;
  readonly #previous: WorkSnapshot | undefined;
  /** The mark of the last snapshot that the board has. */
  #known: string | null = null;
  /** The last one that the remote took, whether the board has it or not. */
  #last: CommitId | null;
  #lastHead: CommitId | null = null;

  /** It writes to the board as the node: the session may have lost its task. */
  constructor(context: RunContext, of: SharedAttempt, previous?: WorkSnapshot) {
    this.#context = { ...context, by: { kind: 'node', node: context.node } };
    this.#of = of;
    this.#previous = previous;
    this.#last = previous?.commit ?? null;
  }

  /** Throws when files cannot be read, or the board cannot be reached: then the same snapshot is sent again. */
  async send(options: TransferOptions = {}): Promise<Sent> {
    const { policy, git, clock } = this.#context;
    const at = clock.now();
    const seen = await this.#capture();
    if (seen.kind === 'no_commit') return { kind: 'empty' };
    const isThere = seen.kind === 'unchanged' || this.#isUntouched(seen) || (await this.#isPrevious(seen));
    if (seen.kind === 'unchanged' || isThere) return { kind: 'there', seen, refused: null };
    // What is uncommitted is bounded already.
    const isCommitted = seen.head !== this.#lastHead;
    const except = this.#last === null ? [] : [this.#last];
    const bytes = isCommitted ? await git.work.newBytes(seen.commit, except) : 0;
    if (bytes > policy.travel.pushBytes) return { kind: 'failed', reason: tooLarge(bytes, policy.travel) };
    const pushed = await this.#push(seen.commit, options);
    if (pushed.kind === 'failed') return pushed;
    const refused = await this.#record(seen.commit, seen.head, at);
    this.#known = seen.mark;
    this.#lastHead = seen.head;
    return { kind: 'there', seen, refused };
  }

  /** The finished commit, whatever its size. */
  async sendFinished(
    head: CommitId,
    options: TransferOptions,
  ): Promise<{ readonly kind: 'pushed' } | RemoteFailure> {
    const { clock, rescues } = this.#context;
    const at = clock.now();
    const seen = await this.#capture();
    if (seen.kind === 'unchanged' && seen.head === head) return { kind: 'pushed' };
    const mine = seen.kind === 'captured' && seen.head === head ? seen.commit : undefined;
    const { task } = this.#of;
    const commit = mine ?? (await rescues.wrap({ task, head, at, previous: this.#last }));
    const pushed = await this.#push(commit, options);
    if (pushed.kind === 'pushed') await this.#record(commit, head, at);
    return pushed;
  }

  async #capture(): Promise<TravelSnapshot> {
    const { git, rescues, clock } = this.#context;
    const { task, worktree, branch, hasStore } = this.#of;
    if (hasStore) await git.stores.bring(task);
    const [known, previous] = [this.#known, this.#last];
    return rescues.travelling({ task, worktree, branch, at: clock.now(), known, previous });
  }

  /** The base as it was: there is nothing to go on from. */
  #isUntouched({ isClean, head }: Captured): boolean {
    return isClean && head === this.#of.baseCommit && this.#known === null;
  }

  /** What the board had before this process looked. */
  async #isPrevious({ commit, head }: Captured): Promise<boolean> {
    const { merging } = this.#context;
    const previous = this.#known === null ? this.#previous : undefined;
    if (previous?.head !== head) return false;
    return (await merging.treeOf(commit)) === (await merging.treeOf(previous.commit));
  }

  async #push(
    commit: CommitId,
    options: TransferOptions,
  ): Promise<{ readonly kind: 'pushed' } | RemoteFailure> {
    const { task, token } = this.#of;
    const pushed = await this.#context.git.work.push({ task, token }, commit, options);
    if (pushed.kind === 'pushed') this.#last = commit;
    return pushed;
  }

  /** Why the board did not take it; null if it did. */
  async #record(commit: CommitId, head: CommitId, readAt: Timestamp): Promise<string | null> {
    const recorded = await change(this.#context, async (change) => {
      const of = { id: this.#of.attempt, at: change.at };
      await change.apply(decided({ type: 'attempt.snapshotted', ...of, commit, head, readAt }));
    });
    return recorded.kind === 'refused' ? recorded.refusal.reason : null;
  }
}

const MEGABYTE = 1024 ** 2;

function tooLarge(bytes: number, { pushBytes }: { readonly pushBytes: number }): string {
  const size = `${Math.round(bytes / MEGABYTE)} MB, more than the ${Math.round(pushBytes / MEGABYTE)} MB`;
  return `it has ${size} of a snapshot. It is pushed when it is finished.`;
}
