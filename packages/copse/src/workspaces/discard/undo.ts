/**
 * Undoes the last removal or reset of a worktree: restores its branch, commits, files, staged changes and ignored files.
 *
 * A worktree that is at the place by then is discarded first (discard.ts), so that an undo can be undone too.
 *
 * The branch that was made for the task moves back to where it was. Any other branch is a person's, to which the agent had
 * switched: it is created again if it was deleted, and never moved. If it has moved or is checked out elsewhere, the
 * worktree comes back with a detached HEAD at its old commit.
 */

import { decided, refused } from '../../kernel/decision.ts';
import {
  type BranchName,
  type CommitId,
  type TaskId,
  type WorkspaceId,
  brand,
  drawId,
} from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import type { Ignored } from '../../git/port.ts';
import type { TrashEntry } from '../ports/trash.ts';
import { type Outcome, change } from '../../board/context.ts';
import { discard } from './discard.ts';
import { refuseIfAlive } from './removal-gate.ts';
import { branchRef, keepTip } from './rescue-first.ts';
import { type WorkspaceContext, workspaceOf } from '../act/context.ts';

export interface Undone {
  readonly task: TaskId;
  readonly path: string;
  /** Null when HEAD is detached, because its branch has moved or is in use elsewhere. */
  readonly branch: BranchName | null;
  readonly what: 'removal' | 'reset' | 'broken' | 'undo';
  /** Files that stay in the trash because another file has their path. */
  readonly inTheWay: readonly string[];
  /** Files that only the trash had; undefined when git could not tell. */
  readonly ignored: Ignored | undefined;
  readonly notes: readonly string[];
}

export async function undo(context: WorkspaceContext, task: TaskId | undefined): Promise<Outcome<Undone>> {
  const entries = (await context.trash.list()).filter(
    ({ record }) => record.why !== 'leftover' && (task === undefined || record.task === task),
  );
  const entry = meant(entries);
  if (entry === undefined) {
    const what = task === undefined ? '' : ` of ${task}`;
    return refused('not_found', `There is no removal or reset${what} to undo.`, 'copse rescue list');
  }
  // Waits for `copse tend`, which may be thinning the trash.
  const patienceMs = context.policy.removal.undoPatienceMs;
  const name = `task-${entry.record.task}`;
  const done = await context.git.tryLock(name, () => bringBack(context, entry), { patienceMs });
  const busy = `Another process is preparing or removing the worktree of ${entry.record.task} right now.`;
  return done?.value ?? refused('wrong_status', busy, 'copse worktrees');
}

/** After an interrupted undo: the entry that it was restoring, not the one that it discarded to make room. */
function meant(entries: readonly TrashEntry[]): TrashEntry | undefined {
  const [newest] = entries;
  return newest?.record.why === 'undo' ? (entries.find(({ isBegun }) => isBegun) ?? newest) : newest;
}

async function bringBack(context: WorkspaceContext, found: TrashEntry): Promise<Outcome<Undone>> {
  const { git, trash, rescues } = context;
  const entry = await atItsPlace(context, found);
  const { task, path, branch, branchTip, rescue, why } = entry.record;
  if (branch === null || branchTip === null || why === 'leftover') {
    const reason = `The worktree of ${task} had no branch, so it cannot be restored. Its files are in ${entry.folder}.`;
    return refused('wrong_status', reason, `copse rescue list ${task}`);
  }
  const isOwn = await isTasksOwn(context, task, branch);
  const holder = await git.holderOf(branch);
  const isHeld = holder !== undefined && holder !== path;
  if (isHeld && isOwn) {
    const reason = `The branch ${branch} of ${task} is checked out at ${holder}.`;
    return refused('wrong_status', reason, `git -C ${shellWord(holder)} switch --detach`);
  }
  const saved = rescue === null ? undefined : await rescues.find(rescue);
  if ((rescue !== null && saved === undefined) || (await git.tip(branchTip)) === undefined) {
    const reason = `Cannot restore ${task}: its rescue or its commits are no longer in git. Its other files are in ${entry.folder}.`;
    return refused('wrong_status', reason, `ls -la ${shellWord(entry.folder)}`);
  }
  const facts = await git.look(path);
  // An interrupted undo continues in the worktree that it made, because some files have left the trash. A lock means that
  // it was interrupted earlier, while git wrote the index.
  const isInterrupted = entry.isBegun && facts.state === 'healthy' && (await git.locks(path)).length === 0;
  const wanted = { branch, branchTip, isOwn, isHeld };
  const [made, ignored] = await Promise.all([
    isInterrupted ? undefined : makeAnew(context, entry, wanted),
    git.ignored(entry),
  ]);
  if (made && made.kind === 'refused') return made;
  const restored = saved && (await rescues.restore(saved, path));
  const { inTheWay } = await trash.bringBack(entry, path, git.gitDirOf(path) ?? null);
  await recordPrepared(context, entry);
  await trash.retire(entry);
  const blocked = restored && restored.kind === 'in_the_way' ? restored.inTheWay : [];
  const now = await git.look(path);
  const isDetached = !isOwn && now.state === 'healthy' && now.branch === null;
  return {
    kind: 'done',
    value: {
      task,
      path,
      branch: isDetached ? null : branch,
      what: why,
      inTheWay: [...blocked, ...inTheWay],
      ignored,
      notes: isDetached ? [whyDetached(branch, branchTip)] : [],
    },
  };
}

/** Whether the branch was ever made for the task. An agent may have switched to another one. */
async function isTasksOwn({ board }: WorkspaceContext, task: TaskId, branch: BranchName): Promise<boolean> {
  return (await board.list('workspace', { task })).some(({ worktree }) => worktree?.branch === branch);
}

function whyDetached(branch: BranchName, at: CommitId): string {
  return `Its branch ${branch} was not made for the task and has moved or is checked out elsewhere, so Copse left it alone. The worktree has a detached HEAD at ${at.slice(0, 12)}.`;
}

interface Wanted {
  readonly branch: BranchName;
  readonly branchTip: CommitId;
  readonly isOwn: boolean;
  /** Another checkout has it. */
  readonly isHeld: boolean;
}

async function makeAnew(
  context: WorkspaceContext,
  entry: TrashEntry,
  { branch, branchTip, isOwn, isHeld }: Wanted,
): Promise<Outcome<null>> {
  const { git, trash } = context;
  const { task, path } = entry.record;
  const cleared = await clearTheWay(context, entry);
  if (cleared.kind === 'refused') return cleared;
  await trash.begin(entry);

  const tip = (await git.tip(branchRef(branch))) ?? null;
  // The branch has newer commits: they stay, and the files are restored on top of them.
  const hasGoneOn = !cleared.value && tip !== null && (await git.isAncestor(branchTip, tip));
  const isElsewhere = tip !== branchTip && !hasGoneOn;
  if (!isOwn && (isHeld || (isElsewhere && tip !== null))) {
    const place = await git.registerDetached({ path, name: task }, branchTip);
    await git.checkOut(place, context.settings.sparse ?? []);
    return { kind: 'done', value: null };
  }
  if (isElsewhere) {
    if (tip !== null) await keepTip(context, task, tip, context.clock.now());
    const moved = await git.moveRef(
      branchRef(branch),
      tip,
      branchTip,
      `copse: ${entry.record.why} of ${task} is undone`,
    );
    if (moved.kind !== 'moved') {
      return refused('wrong_status', `The branch ${branch} moved at this moment.`, `copse undo ${task}`);
    }
  }
  const registered = await git.register({ path, name: task, branch });
  if (registered.kind === 'taken')
    throw new Error(`${branch} was taken by ${registered.takenBy} at this moment`);
  await git.checkOut(registered.place, context.settings.sparse ?? []);
  return { kind: 'done', value: null };
}

/** After the repository was moved, entries of the old place belong in the new one. */
async function atItsPlace({ git, worktreeFolder }: WorkspaceContext, entry: TrashEntry): Promise<TrashEntry> {
  const { path, task } = entry.record;
  if (path.startsWith(`${worktreeFolder}/`) || (await git.look(path)).state !== 'absent') return entry;
  return { ...entry, record: { ...entry.record, path: `${worktreeFolder}/${task}` } };
}

/** Discards a worktree that is at the place; whether there was one. */
async function clearTheWay(
  context: WorkspaceContext,
  { record, isBegun }: TrashEntry,
): Promise<Outcome<boolean>> {
  const { task, path } = record;
  const facts = await context.git.look(path);
  if (facts.state === 'absent' && !facts.isRegistered) return { kind: 'done', value: false };
  const workspace = await workspaceOf(context, task);
  const isUnfinished = isBegun || (facts.state === 'broken' && facts.isUnfinished);
  const again = `copse undo ${task}`;
  const discarded = await discard(context, {
    task,
    path,
    rescueReason: 'removal',
    recordedBranch: record.branch,
    base: record.base,
    reason: (rescue) => (facts.state === 'healthy' || rescue !== null ? 'undo' : 'leftover'),
    look: () => refuseIfAlive(context, task, path, workspace, { isUnfinished, again }),
  });
  return discarded.kind === 'refused' ? discarded.refusal : { kind: 'done', value: true };
}

async function recordPrepared(
  context: WorkspaceContext,
  { record: { task, path, base } }: TrashEntry,
): Promise<void> {
  if (await workspaceOf(context, task)) return;
  const before = (await context.board.list('workspace', { task })).at(-1)?.worktree;
  // A worktree that the board never had does not become Copse's own by an undo.
  if (!before) return;
  const { branch, baseBranch } = before;
  const baseCommit = base ?? before.baseCommit;
  const outcome = await change(context, async (change) => {
    const id: WorkspaceId = brand(drawId('ws-', context.random));
    const { node, settings } = context;
    const worktree = { path, branch, baseBranch, baseCommit };
    const { strategy } = settings;
    await change.apply(
      decided({ type: 'workspace.prepared', id, at: change.at, task, node, strategy, worktree }),
    );
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}
