/**
 * Takes back the last removal or reset of a worktree: its branch, its commits, every file as it was, staged or not, and
 * what git ignores.
 *
 * If something is at the place by now, that goes to the trash in turn, rescued first, so an undo can be undone as well.
 *
 * The branch that was made for the task is put back to where it was. Any other is a person's, to which the agent had
 * switched: it is made again if it is gone and never moved. If it is elsewhere, or checked out elsewhere, the worktree comes
 * back at the commit it was at, on no branch.
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
import type { Ignored } from '../../git/port.ts';
import type { TrashEntry } from '../ports/trash.ts';
import { type Outcome, change, refusal } from '../../board/context.ts';
import { refuseIfAlive } from './removal-gate.ts';
import { branchRef, keepTip, rescueFirst } from './rescue-first.ts';
import { type WorkspaceContext, workspaceOf } from '../act/context.ts';

export interface Undone {
  readonly task: TaskId;
  readonly path: string;
  /** Null when its HEAD is on none, because the branch it was on is somebody else's by now. */
  readonly branch: BranchName | null;
  readonly what: 'removal' | 'reset' | 'broken' | 'undo';
  /** Files that stay in the trash because something else has their place. */
  readonly inTheWay: readonly string[];
  /** What was brought back from the trash alone; undefined when git could not tell. */
  readonly ignored: Ignored | undefined;
  readonly notes: readonly string[];
}

export async function undo(context: WorkspaceContext, task: TaskId | undefined): Promise<Outcome<Undone>> {
  const entries = (await context.trash.list()).filter(
    ({ record }) => record.why !== 'leftover' && (task === undefined || record.task === task),
  );
  const entry = meant(entries);
  if (entry === undefined) {
    const what = task === undefined ? 'Nothing' : `Nothing of ${task}`;
    return refusal(
      refused('not_found', `${what} was removed or reset that could be undone.`, 'copse rescue list'),
    );
  }
  // The upkeep in the background may be at the trash right now, which passes.
  const patienceMs = context.policy.removal.undoPatienceMs;
  const name = `task-${entry.record.task}`;
  const done = await context.git.tryLock(name, () => bringBack(context, entry), { patienceMs });
  const busy = `Another process is preparing or removing the worktree of ${entry.record.task} right now.`;
  return done?.value ?? refusal(refused('wrong_status', busy, 'copse worktrees'));
}

/** What was only in the way of an undo that was interrupted is not meant; what that undo was to bring back is. */
function meant(entries: readonly TrashEntry[]): TrashEntry | undefined {
  const [newest] = entries;
  return newest?.record.why === 'undo' ? (entries.find(({ isBegun }) => isBegun) ?? newest) : newest;
}

async function bringBack(context: WorkspaceContext, found: TrashEntry): Promise<Outcome<Undone>> {
  const { git, trash, rescues } = context;
  const entry = await atItsPlace(context, found);
  const { task, path, branch, branchTip, rescue, why } = entry.record;
  if (branch === null || branchTip === null || why === 'leftover') {
    const reason = `The worktree of ${task} had no branch, so it cannot be made again; its files are in ${entry.folder}.`;
    return refusal(refused('wrong_status', reason, `copse rescue list ${task}`));
  }
  const isOwn = await isTasksOwn(context, task, branch);
  const holder = await git.holderOf(branch);
  const isHeld = holder !== undefined && holder !== path;
  if (isHeld && isOwn) {
    const reason = `The branch ${branch} of ${task} is checked out at ${holder}.`;
    return refusal(refused('wrong_status', reason, `git -C "${holder}" switch --detach`));
  }
  const saved = rescue === null ? undefined : await rescues.find(rescue);
  if ((rescue !== null && saved === undefined) || (await git.tip(branchTip)) === undefined) {
    const reason = `What ${task} consisted of is no longer in git; what is left of it is in ${entry.folder}.`;
    return refusal(refused('wrong_status', reason, `look into ${entry.folder}`));
  }
  const facts = await git.look(path);
  // An undo that was interrupted goes on in the worktree that it made: some of the files may be there and no longer in
  // the trash. A lock is from before that, when the index was being written.
  const isInterrupted = entry.isBegun && facts.state === 'healthy' && (await git.locks(path)).length === 0;
  const wanted = { branch, branchTip, isOwn, isHeld };
  const [made, ignored] = await Promise.all([
    isInterrupted ? undefined : makeAnew(context, entry, wanted),
    git.ignored(entry),
  ]);
  if (made && !made.ok) return made;
  const restored = saved && (await rescues.restore(saved, path));
  const { inTheWay } = await trash.bringBack(entry, path, git.gitDirOf(path) ?? null);
  await recordPrepared(context, entry);
  await trash.retire(entry);
  const blocked = restored && !restored.restored ? restored.inTheWay : [];
  const now = await git.look(path);
  const isDetached = !isOwn && now.state === 'healthy' && now.branch === null;
  return {
    ok: true,
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

/** One that was made for it, now or before. An agent may have switched to any other. */
async function isTasksOwn({ board }: WorkspaceContext, task: TaskId, branch: BranchName): Promise<boolean> {
  return (await board.list('workspace', { task })).some(({ worktree }) => worktree?.branch === branch);
}

function whyDetached(branch: BranchName, at: CommitId): string {
  return `It was on ${branch}, which was not made for the task and is in use or elsewhere by now, so that stays as it is. The worktree is at its commit ${at.slice(0, 12)}, on no branch.`;
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
  if (!cleared.ok) return cleared;
  await trash.begin(entry);

  const tip = (await git.tip(branchRef(branch))) ?? null;
  // Somebody went on with it since: what they added stays, and the rest is put on top of it where it fits.
  const hasGoneOn = !cleared.value && tip !== null && (await git.isAncestor(branchTip, tip));
  const isElsewhere = tip !== branchTip && !hasGoneOn;
  if (!isOwn && (isHeld || (isElsewhere && tip !== null))) {
    const place = await git.registerDetached({ path, name: task }, branchTip);
    await git.checkOut(place, context.settings.sparse ?? []);
    return { ok: true, value: null };
  }
  if (isElsewhere) {
    if (tip !== null) await keepTip(context, task, tip, context.clock.now());
    const moved = await git.moveRef(
      branchRef(branch),
      tip,
      branchTip,
      `copse: ${entry.record.why} of ${task} is undone`,
    );
    if (!moved.moved) {
      return refusal(
        refused('wrong_status', `The branch ${branch} moved at this moment.`, `copse undo ${task}`),
      );
    }
  }
  const registered = await git.register({ path, name: task, branch });
  if (registered.kind === 'taken')
    throw new Error(`${branch} was taken by ${registered.takenBy} at this moment`);
  await git.checkOut(registered.place, context.settings.sparse ?? []);
  return { ok: true, value: null };
}

/** After the repository was moved, what was removed before belongs into the new place. */
async function atItsPlace({ git, worktreeFolder }: WorkspaceContext, entry: TrashEntry): Promise<TrashEntry> {
  const { path, task } = entry.record;
  if (path.startsWith(`${worktreeFolder}/`) || (await git.look(path)).state !== 'absent') return entry;
  return { ...entry, record: { ...entry.record, path: `${worktreeFolder}/${task}` } };
}

/** Whether there was anything. */
async function clearTheWay(
  context: WorkspaceContext,
  { record, isBegun }: TrashEntry,
): Promise<Outcome<boolean>> {
  const { git, trash, clock } = context;
  const { task, path } = record;
  const facts = await git.look(path);
  if (facts.state === 'absent' && !facts.isRegistered) return { ok: true, value: false };
  const workspace = await workspaceOf(context, task);
  const isUnfinished = isBegun || (facts.state === 'broken' && facts.isUnfinished);
  const again = `copse undo ${task}`;
  const refuse = () => refuseIfAlive(context, task, path, workspace, { isUnfinished, again });
  const alive = await refuse();
  if (alive) return alive;
  const at = clock.now();
  const isHealthy = facts.state === 'healthy';
  const asBranch = record.branch ?? undefined;
  const saved = { task, worktree: path, why: 'removal', at, ...(asBranch && { asBranch }) } as const;
  const rescue = await rescueFirst(context, saved);
  // Somebody may have gone in while the files were being saved.
  const aliveNow = await refuse();
  if (aliveNow) return aliveNow;
  const branch = isHealthy ? facts.branch : null;
  const branchTip = (branch && (await git.tip(branchRef(branch)))) ?? null;
  await trash.put({
    path,
    gitDir: git.gitDirOf(path) ?? null,
    record: {
      task,
      path,
      branch,
      branchTip,
      head: isHealthy ? facts.head : null,
      base: record.base,
      rescue,
      at,
      why: isHealthy || rescue !== null ? 'undo' : 'leftover',
    },
  });
  return { ok: true, value: true };
}

async function recordPrepared(
  context: WorkspaceContext,
  { record: { task, path, base } }: TrashEntry,
): Promise<void> {
  if (await workspaceOf(context, task)) return;
  const before = (await context.board.list('workspace', { task })).at(-1)?.worktree;
  // What the board never knew is not made Copse's own by having been removed.
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
  if (!outcome.ok) throw new Error(outcome.refusal.reason);
}
