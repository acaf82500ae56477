/**
 * The one way a worktree leaves its place. Removal, reset, an unusable worktree that is set aside, and undo all call
 * `discard`.
 *
 *   look → rescue → (teardown → rescue) → look again → keep the tip → move to the trash     then, by the caller:
 *   delete the branch from the tip that was seen → record on the board
 *
 * Why this order
 * - Rescue first. Until then the folder is the only copy of uncommitted content. A rescue that fails throws, and no later
 *   step happens.
 * - Look again after the rescue. Saving thousands of files takes long enough for a shell or an agent to enter. The look
 *   is the last step before the folder moves; a process that enters between the two keeps its files, because the move is
 *   a rename and deletes nothing.
 * - Keep the tip before the move. The branch may be deleted next, here or by hand, and the trash is later thinned of
 *   everything that git holds: by then a ref of Copse's own must lead to it.
 * - Trash before branch, board last. A call that was killed is repeated: a rescue is repeated only if content changed, a
 *   worktree in the trash is absent from its place, a deleted branch is gone, and the release is recorded once.
 *
 * Who else acts meanwhile
 * - Another Copse process: it needs the task's lock, which every caller holds.
 * - The agent and what it started, a person's shell or editor, a tmux terminal, a claim on another machine, git in the
 *   worktree: the look asks for each of them (removal-gate.ts). An unknown answer refuses.
 * - A commit that arrives after the look: the caller deletes the branch only from the tip that was seen.
 *
 * Rejected
 * - `git worktree remove`: without force it deletes ignored files, and the last reference to detached commits.
 * - One look before the rescue: it does not see who enters during the rescue.
 * - Rescue in the trash, after the move: a failed rescue would come too late to keep the worktree where it is.
 * - Copy and delete where the rename fails: a killed copy leaves two halves. The error is thrown and the worktree stays.
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { SnapshotRequest } from '../../git/port.ts';
import type { TrashEntry, TrashRecord } from '../ports/trash.ts';
import { furnishRecord } from '../act/furnishing-of.ts';
import { branchOf } from './removal-gate.ts';
import { keepTip, rescueFirst, tipOrRescued } from './rescue-first.ts';
import type { WorkspaceContext } from '../act/context.ts';

export interface Discarding<Refusal> {
  readonly task: TaskId;
  readonly path: string;
  readonly rescueReason: SnapshotRequest['why'];
  /** The branch that the board has for it, where HEAD names none. */
  readonly recordedBranch: BranchName | null;
  readonly base: CommitId | null;
  readonly reason: (rescue: string | null) => TrashRecord['why'];
  /** Why the worktree must stay, or undefined. */
  readonly look: () => Promise<Refusal | undefined>;
  /** The caller has just decided by a look of its own. */
  readonly hasLooked?: boolean;
  /** Runs the teardown commands; whether any ran. */
  readonly tearDown?: () => Promise<boolean>;
  /** What a killed call put into the trash before. */
  readonly earlier?: TrashRecord | undefined;
  readonly onStep?: (step: 'torn_down' | 'rescued' | 'trashed') => void;
}

export type Discarded<Refusal> =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'trashed';
      readonly entry: TrashEntry;
      readonly branch: BranchName | null;
      /** The worktree as the teardown left it, if that differs from `entry.record.rescue`. */
      readonly rescueAfterTeardown: string | null;
    };

/** Needs the task's lock. */
export async function discard<Refusal>(
  context: WorkspaceContext,
  of: Discarding<Refusal>,
): Promise<Discarded<Refusal>> {
  const { git, trash, clock } = context;
  const { task, path, recordedBranch, base, look, onStep = () => {} } = of;
  const first = of.hasLooked === true ? undefined : await look();
  if (first !== undefined) return { kind: 'refused', refusal: first };

  const at = clock.now();
  const asBranch = recordedBranch === null ? {} : { asBranch: recordedBranch };
  const snapshot = { task, worktree: path, why: of.rescueReason, at, ...asBranch };
  // Before the teardown, which may delete more than it should, and after it, because it may write.
  const before = await rescueFirst(context, snapshot);
  const hasRun = (await of.tearDown?.()) ?? false;
  onStep('torn_down');
  const after = hasRun ? await rescueFirst(context, snapshot) : null;
  const rescue = before ?? after;
  onStep('rescued');

  const second = await look();
  if (second !== undefined) return { kind: 'refused', refusal: second };

  const found = await git.look(path);
  const branch = branchOf(found, recordedBranch);
  const branchTip = branch && (await tipOrRescued(context, branch, rescue));
  if (branchTip !== null) await keepTip(context, task, branchTip, at);
  const head = found.state === 'healthy' ? found.head : null;
  const why = of.reason(rescue);
  const record = of.earlier ?? { task, path, branch, branchTip, head, base, rescue, at, why };
  const entry = await trash.put({ path, gitDir: git.gitDirOf(path) ?? null, record });
  context.furnishing.startOver(furnishRecord(context, task));
  onStep('trashed');
  return { kind: 'trashed', entry, branch, rescueAfterTeardown: after === before ? null : after };
}
