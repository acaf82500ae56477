/**
 * Whether work travels to other machines, what the board knows of it, and how a machine gets it.
 *
 * Only what the board has counts: others may be able to push to the remote, so a ref alone proves nothing.
 */

import type { Board, BoardReader } from '../../../board/port.ts';
import type { CommitId, FencingToken, NodeId, TaskId } from '../../../kernel/ids.ts';
import type { Git, RemoteFailure, TransferOptions, WorkRef } from '../../../git/port.ts';
import type { Landing } from '../../../queue/rules/landing.ts';
import type { Attempt, WorkSnapshot } from '../../../tasks/rules/attempt.ts';
import type { WorkspaceSettings } from '../../../config/workspace.ts';
import type { WorkspaceContext } from '../context.ts';

interface Sharing {
  readonly board: Pick<Board, 'engine'>;
  readonly git: Pick<Git, 'remoteName'>;
  readonly settings: Pick<WorkspaceSettings, 'share_work'>;
}

export async function sharesWork({ board, git, settings }: Sharing): Promise<boolean> {
  return board.engine === 'postgres' && settings.share_work && (await git.remoteName()) !== undefined;
}

export interface SharedWork extends WorkRef {
  readonly node: NodeId;
  readonly snapshot: WorkSnapshot;
  /** It ended without saying so, or has not ended. */
  readonly isLost: boolean;
}

/**
 * The newest snapshot of a task: that of the attempt with the highest token, because each attempt goes on from those before.
 * Work that has landed, or that a person discarded, is left out.
 */
export async function newestSharedWork(
  board: BoardReader,
  task: TaskId,
  below?: FencingToken,
): Promise<SharedWork | undefined> {
  const attempts = await board.list('attempt', { task });
  const landings = await board.list('landing', { task });
  const discarded = (await board.get('task', task))?.discarded?.upTo ?? -1;
  const shared = attempts
    .filter(({ token }) => token > discarded && (below === undefined || token < below))
    .filter((one) => !hasLandedSince(one, attempts, landings))
    .flatMap(({ lastSnapshot: snapshot, ...one }) => (snapshot ? [{ ...one, snapshot }] : []))
    .toSorted((one, other) => other.token - one.token);
  const [newest] = shared;
  if (newest === undefined) return undefined;
  const { token, node, snapshot, end } = newest;
  return { task, token, node, snapshot, isLost: end === null || end.reason === 'crashed' };
}

function hasLandedSince(
  attempt: Attempt,
  attempts: readonly Attempt[],
  landings: readonly Landing[],
): boolean {
  return landings.some(({ state, attempt: by, queuedAt }) => {
    if (state.status !== 'landed') return false;
    const token = attempts.find(({ id }) => id === by)?.token;
    return token === undefined ? queuedAt >= attempt.startedAt : attempt.token <= token;
  });
}

export type BroughtWork =
  | { readonly kind: 'here' }
  /** The remote has it no longer, or has another commit there. */
  | { readonly kind: 'missing' }
  | RemoteFailure;

/** Brings a commit that the board has to this machine, from the ref of the attempt that made it. */
export async function bringShared(
  { git }: { readonly git: Pick<Git, 'tip' | 'work'> },
  of: WorkRef,
  commit: CommitId,
  options: TransferOptions = {},
): Promise<BroughtWork> {
  if ((await git.tip(commit)) !== undefined) return { kind: 'here' };
  const fetched = await git.work.fetch([of], options);
  if (fetched.kind === 'failed') return fetched;
  return { kind: (await git.tip(commit)) === undefined ? 'missing' : 'here' };
}

/** The refs that a task may have on the remote: a push may have arrived that the board was not told of. */
export async function workRefsOf(board: BoardReader, task: TaskId): Promise<readonly WorkRef[]> {
  const attempts = await board.list('attempt', { task });
  const landings = await board.list('landing', { task });
  const now = (await board.get('task', task))?.token;
  const tokens = [...attempts, ...landings, { token: now }].flatMap(({ token }) => token ?? []);
  return [...new Set(tokens)].map((token) => ({ task, token }));
}

interface Bringing {
  readonly board: Board;
  readonly git: Git;
}

/** Brings the newest shared work of a task here, with its submitted commit. Undefined: the board knows of none. */
export async function bringNewest(
  { board, git }: Bringing,
  task: TaskId,
): Promise<{ readonly work: SharedWork; readonly brought: BroughtWork } | undefined> {
  if (board.engine !== 'postgres' || (await git.remoteName()) === undefined) return undefined;
  const work = await newestSharedWork(board, task);
  return work && { work, brought: await bringShared({ git }, work, work.snapshot.commit) };
}

/** Puts a commit of this machine on the remote for a task that a person queues or finishes. Whether it did is said later. */
export async function shareHead(
  context: Sharing & Pick<WorkspaceContext, 'rescues' | 'clock' | 'board'> & { readonly git: Git },
  of: WorkRef,
  head: CommitId,
  options: TransferOptions = {},
): Promise<void> {
  if (!(await sharesWork(context))) return;
  const { git, rescues, clock } = context;
  const last = await snapshotHere(context, of);
  const isThat = last?.head === head;
  const previous = last?.commit ?? null;
  const commit = isThat
    ? last.commit
    : await rescues.wrap({ task: of.task, head, at: clock.now(), previous });
  await git.work.push(of, commit, options);
}

/** The snapshot that the board has of an attempt, if its commit is here. */
export async function snapshotHere(
  { board, git }: { readonly board: BoardReader; readonly git: Pick<Git, 'tip'> },
  { task, token }: WorkRef,
): Promise<WorkSnapshot | undefined> {
  const attempts = await board.list('attempt', { task });
  const last = attempts.find((one) => one.token === token)?.lastSnapshot;
  return last && (await git.tip(last.commit)) !== undefined ? last : undefined;
}
