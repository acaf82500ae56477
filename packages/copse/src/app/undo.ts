/**
 * Takes back the last removal or reset of a worktree: its branch, its commits, every file as it was, staged or not, and
 * what git ignores.
 *
 * If something is at the place by now, that goes to the trash in turn, rescued first, so an undo can be undone as well.
 */

import { decided, refused } from '../domain/decision.ts';
import {
  type BranchName,
  type CommitId,
  type TaskId,
  type WorkspaceId,
  brand,
  drawId,
} from '../domain/ids.ts';
import type { TrashEntry } from '../ports/trash.ts';
import { type Outcome, change, refusal } from './context.ts';
import { branchRef, keepTip, rescueFirst } from './rescue-first.ts';
import { type WorkspaceContext, isHeldByHand, workspaceOf } from './workspace-context.ts';

export interface Undone {
  readonly task: TaskId;
  readonly path: string;
  readonly branch: BranchName;
  readonly what: 'removal' | 'reset' | 'broken' | 'undo';
  /** Files that stay in the trash because something else has their place. */
  readonly inTheWay: readonly string[];
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
  const done = await context.git.tryLock(`task-${entry.record.task}`, () => bringBack(context, entry));
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
  const holder = await git.holderOf(branch);
  if (holder !== undefined && holder !== path) {
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
  const made = isInterrupted ? undefined : await makeAnew(context, entry, branch, branchTip);
  if (made && !made.ok) return made;
  const restored = saved && (await rescues.restore(saved, path));
  const { inTheWay } = await trash.bringBack(entry, path, git.gitDirOf(path) ?? null);
  await recordPrepared(context, entry, branch);
  await trash.retire(entry);
  const blocked = restored && !restored.restored ? restored.inTheWay : [];
  return { ok: true, value: { task, path, branch, what: why, inTheWay: [...blocked, ...inTheWay] } };
}

async function makeAnew(
  context: WorkspaceContext,
  entry: TrashEntry,
  branch: BranchName,
  branchTip: CommitId,
): Promise<Outcome<null>> {
  const { git, trash } = context;
  const { task, path } = entry.record;
  const cleared = await clearTheWay(context, entry);
  if (!cleared.ok) return cleared;
  await trash.begin(entry);

  const tip = (await git.tip(branchRef(branch))) ?? null;
  // Somebody went on with it since: what they added stays, and the rest is put on top of it where it fits.
  const hasGoneOn = !cleared.value && tip !== null && (await git.isAncestor(branchTip, tip));
  if (tip !== branchTip && !hasGoneOn) {
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
  if (!registered.registered) throw new Error(`${branch} was taken by ${registered.takenBy} at this moment`);
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
async function clearTheWay(context: WorkspaceContext, { record }: TrashEntry): Promise<Outcome<boolean>> {
  const { git, trash, clock, occupancy } = context;
  const { task, path } = record;
  const facts = await git.look(path);
  if (facts.state === 'absent' && !facts.isRegistered) return { ok: true, value: false };
  const owner = await context.board.get('task', task);
  const lease = await context.board.lease(task);
  if (owner && lease && lease.expiresAt > clock.now() && !isHeldByHand(context, owner)) {
    const reason = `There is a worktree of ${task} at ${path}, and a session holds the task.`;
    return refusal(refused('wrong_status', reason, `copse show ${task}`));
  }
  const inside = await occupancy.inside(path, { roots: [], sessions: [] });
  if (!inside.known || inside.processes.length > 0) {
    const [someone] = inside.known ? inside.processes : [];
    const who = someone
      ? `${someone.name} (pid ${someone.pid}) is in it`
      : 'it cannot be found out who is in it';
    const reason = `There is a worktree of ${task} at ${path}, and ${who}.`;
    return refusal(refused('wrong_status', reason, 'end it or leave the folder'));
  }
  const at = clock.now();
  const isHealthy = facts.state === 'healthy';
  const asBranch = record.branch ?? undefined;
  const saved = { task, worktree: path, why: 'removal', at, ...(asBranch && { asBranch }) } as const;
  const rescue = await rescueFirst(context, saved);
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
  { record: { task, path, base, branchTip } }: TrashEntry,
  branch: BranchName,
): Promise<void> {
  if (await workspaceOf(context, task)) return;
  const before = (await context.board.list('workspace', { task })).at(-1)?.worktree;
  const baseCommit = base ?? before?.baseCommit ?? branchTip;
  const baseBranch = before?.baseBranch ?? (await context.git.detectBase()) ?? branch;
  if (baseCommit === null) throw new Error(`Nothing says where the branch of ${task} began`);
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
