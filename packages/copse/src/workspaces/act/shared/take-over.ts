/**
 * Going on with what another machine did: the newest snapshot that the board has of a task, unless this machine has its work
 * already.
 *
 * This machine has it when the snapshot is of an attempt of its own whose worktree or branch is still here, or when it took
 * the snapshot over before. The mark of that is a ref, written when everything is in the worktree: a kill before repeats it.
 */

import type { CommitId, FencingToken, TaskId } from '../../../kernel/ids.ts';
import { spanText } from '../../../kernel/time.ts';
import type { TravelledRescue } from '../../../git/port.ts';
import type { Attempt } from '../../../tasks/rules/attempt.ts';
import { machineName } from './elsewhere.ts';
import { bringShared, newestSharedWork, type SharedWork, sharesWork } from './share-work.ts';
import type { WorkspaceContext } from '../context.ts';

export type TakeOver =
  | { readonly kind: 'none'; readonly notes: readonly string[] }
  | {
      readonly kind: 'found';
      readonly from: SharedWork;
      readonly rescue: TravelledRescue;
      /** Where the task's branch begins here. */
      readonly start: CommitId;
      readonly notes: readonly string[];
    }
  /** The remote cannot be reached now. */
  | { readonly kind: 'unreachable'; readonly reason: string };

export async function findTakeOver(
  context: WorkspaceContext,
  task: TaskId,
  { token, isHere }: { readonly token: FencingToken | undefined; readonly isHere: () => Promise<boolean> },
): Promise<TakeOver> {
  if (!(await sharesWork(context))) return { kind: 'none', notes: [] };
  const { board, git, node, rescues } = context;
  const from = await newestSharedWork(board, task, token);
  const lost = await lostWithout(context, task, { token, from });
  if (from === undefined) return { kind: 'none', notes: lost };
  const isTaken = from.node === node || (await git.tip(takenRef(from))) !== undefined;
  if (isTaken && (await isHere())) return { kind: 'none', notes: [] };
  const { commit } = from.snapshot;
  const brought = await bringShared(context, from, commit);
  const machine = await machineName(board, from.node);
  if (brought.kind === 'failed' && brought.because !== 'no_remote') {
    const reason = `${task} was worked on by ${machine}, and its work cannot be fetched: ${brought.reason}`;
    return { kind: 'unreachable', reason };
  }
  const rescue = brought.kind === 'here' ? await rescues.adopt(commit) : undefined;
  if (rescue?.head == null) {
    const gone = `The snapshot ${commit.slice(0, 10)} of ${machine} is not on the remote any more. What was done there is not here.`;
    return { kind: 'none', notes: [gone, ...lost] };
  }
  const notes = [`It continues the work of ${machine}. ${await ageText(context, from)}`, ...lost];
  return { kind: 'found', from, rescue, start: rescue.branchTip ?? rescue.head, notes };
}

/** Everything of the snapshot is in the worktree. */
export async function markTaken({ git }: WorkspaceContext, from: SharedWork): Promise<void> {
  const before = (await git.tip(takenRef(from))) ?? null;
  await git.moveRef(takenRef(from), before, from.snapshot.commit, 'copse: taken over');
}

function takenRef({ task, token }: SharedWork): string {
  return `refs/copse/taken/${task}/${token}`;
}

async function ageText({ board }: WorkspaceContext, { task, token, snapshot }: SharedWork): Promise<string> {
  const attempts = await board.list('attempt', { task });
  const end = attempts.find((one) => one.token === token)?.end;
  const before =
    end == null ? '' : `, ${spanText(Math.max(0, end.at - snapshot.at))} before that attempt ended`;
  return `This is its last snapshot, of ${new Date(snapshot.at).toISOString()}${before}. Changes after that are not here.`;
}

/** Attempts of other machines after the newest snapshot, none of whose work reached the remote. */
async function lostWithout(
  context: WorkspaceContext,
  task: TaskId,
  { token, from }: { readonly token: FencingToken | undefined; readonly from: SharedWork | undefined },
): Promise<readonly string[]> {
  const discarded = (await context.board.get('task', task))?.discarded?.upTo ?? -1;
  const isLater = (one: Attempt) =>
    one.node !== context.node &&
    one.token > Math.max(from?.token ?? -1, discarded) &&
    (token === undefined || one.token < token) &&
    one.lastSnapshot === undefined;
  const lost = (await context.board.list('attempt', { task })).filter(isLater);
  const names = await Promise.all(
    [...new Set(lost.map(({ node }) => node))].map((id) => machineName(context.board, id)),
  );
  return names.map((name) => `No snapshot of what ${name} did reached the remote.`);
}
