/** What `--json` prints about reviews, and about the undo of a landing. */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { ChangedFile } from '../../workspaces/ports/worktrees.ts';
import { ledgerView, taskView } from './views.ts';

interface Size {
  readonly files: readonly ChangedFile[];
  readonly inserted: number;
  readonly deleted: number;
}

interface Reviewed {
  readonly task: Task;
  readonly agent: string | null;
  readonly target: BranchName | null;
  readonly change: {
    readonly head: CommitId;
    readonly from: CommitId;
    readonly diff: Size;
    readonly conflicts: readonly string[];
  } | null;
  readonly accept: { readonly commands: number; readonly isOfThis: boolean };
  readonly checks: readonly { readonly name: string; readonly verdict: string }[];
  readonly uncommitted: number;
  readonly before: string | null;
  readonly ledger: readonly LedgerEntry[];
}

export function reviewView(review: Reviewed) {
  const { task, agent, target, change, accept, checks, uncommitted, before, ledger } = review;
  return {
    task: taskView(task),
    waitingSince: new Date(task.state.since).toISOString(),
    agent,
    target,
    change: change && {
      head: change.head,
      from: change.from,
      files: change.diff.files,
      inserted: change.diff.inserted,
      deleted: change.diff.deleted,
      conflicts: change.conflicts,
    },
    accept: { commands: accept.commands, passed: accept.commands > 0 && accept.isOfThis },
    checks,
    uncommitted,
    before,
    ledger: ledger.map(ledgerView),
  };
}

export function undoneView(of: {
  readonly task: Task;
  readonly target: BranchName;
  readonly landed: CommitId;
  readonly commits: readonly { readonly id: CommitId; readonly subject: string }[];
  readonly diff: Size;
  readonly undo: Task | null;
}) {
  const { task, target, landed, commits, diff, undo } = of;
  const { files, inserted, deleted } = diff;
  const brought = commits.map(({ id, subject }) => ({ id, subject }));
  const what = { task: task.id, target, commit: landed, commits: brought, files, inserted, deleted };
  return { ...what, undo: undo && taskView(undo) };
}

export function approvedView(
  task: TaskId,
  landing: {
    readonly id: string;
    readonly head: CommitId;
    readonly target: BranchName;
    readonly queuedAt: Timestamp;
  },
) {
  const { id, head, target, queuedAt } = landing;
  return { task, landing: id, head, target, queuedAt: new Date(queuedAt).toISOString() };
}
