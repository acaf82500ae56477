/** What `--json` prints about worktrees, rescues and diffs. */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import { time } from '../../kernel/time.ts';
import type { ListedWorktree } from '../../workspaces/act/worktree-list.ts';
import type { ChangedFile } from '../../workspaces/ports/worktrees.ts';

interface ShownWork {
  readonly workspace: { readonly strategy: string };
  readonly path: string;
  readonly branch: BranchName | null;
  readonly base: BranchName | null;
  readonly reused: boolean;
  readonly ports: readonly number[];
  readonly notes: readonly string[];
}

export function workView(task: TaskId, prepared: ShownWork) {
  const { workspace, path, branch, base, reused, ports, notes } = prepared;
  return { task, worktree: workspace.strategy === 'none' ? null : path, branch, base, reused, ports, notes };
}

/** `isWhole`: everything was counted before the time was up. */
interface ShownSize {
  readonly bytes: number;
  readonly isWhole: boolean;
}

export function worktreeView({ workspace, path, ...facts }: ListedWorktree, size?: ShownSize) {
  return {
    task: workspace.task,
    worktree: path,
    ...facts,
    ...(size && { size }),
    since: time(workspace.preparedAt),
  };
}

interface ShownRemoval {
  readonly task: TaskId;
  readonly path: string | null;
  readonly branch: BranchName | null;
  readonly becameOfBranch: 'kept' | 'deleted' | 'gone';
  readonly rescue: string | null;
  readonly notes: readonly string[];
  readonly ignored: ShownIgnored | undefined;
  readonly why?: string;
}

export function removedView({
  task,
  path,
  branch,
  becameOfBranch,
  rescue,
  notes,
  ignored,
  why,
}: ShownRemoval) {
  return {
    task,
    worktree: path,
    branch,
    branchDeleted: becameOfBranch !== 'kept',
    rescue,
    ignored: ignoredView(ignored),
    reason: why ?? 'asked',
    notes,
  };
}

interface ShownIgnored {
  readonly count: number;
  readonly first: readonly string[];
}

/** Null when git could not tell. */
export function ignoredView(ignored: ShownIgnored | undefined) {
  return ignored === undefined ? null : { count: ignored.count, first: ignored.first };
}

export function keptView({
  task,
  path,
  reason,
}: {
  readonly task: TaskId;
  readonly path: string;
  readonly reason: string;
}) {
  return { task, worktree: path, reason };
}

interface ShownRescue {
  readonly ref: string;
  readonly commit: CommitId;
  readonly task: TaskId;
  readonly why: string;
  readonly at: Timestamp;
  readonly branch: BranchName | null;
  readonly head: CommitId | null;
  readonly changed: number;
}

export function rescueView({ ref, commit, task, why, at, branch, head, changed }: ShownRescue) {
  return { ref, commit, task, why, at: time(at), branch, head, changed };
}

interface ShownTip {
  readonly ref: string;
  readonly commit: CommitId;
  readonly task: TaskId;
  readonly at: Timestamp;
  readonly subject: string;
}

export function keptTipView({ ref, commit, task, at, subject }: ShownTip) {
  return { ref, commit, task, at: time(at), subject };
}

interface ShownDiff {
  readonly files: readonly ChangedFile[];
  readonly inserted: number;
  readonly deleted: number;
}

interface ShownTaskDiff {
  readonly diff: ShownDiff;
  readonly base: BranchName;
  readonly from: CommitId;
  readonly head: CommitId;
  readonly branch: BranchName | null;
}

/** The patch only where it is text: JSON has no bytes. */
export function diffView(
  task: TaskId,
  { diff, base, from, head, branch }: ShownTaskDiff,
  patch: string | null,
) {
  const { files, inserted, deleted } = diff;
  return { task, branch, base, from, head, files, inserted, deleted, patch };
}
