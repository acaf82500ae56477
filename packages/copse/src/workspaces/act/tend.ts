/**
 * Work in the background: frees disk space in the trash and refills the worktree pool. One process at a time; if it is
 * killed, the next run does the rest.
 */

import { type CommitId, type Timestamp, brand } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { decidePoolSize } from '../rules/pool.ts';
import { isTrashOver } from '../rules/sweep/plan.ts';
import type { TrashEntry } from '../ports/trash.ts';
import { baseBranchOf, findNewestBase } from './newest-base.ts';
import { trashTime } from '../sweep/trash-time.ts';
import type { WorkspaceContext } from './context.ts';

interface Tended {
  readonly thinned: number;
  readonly deleted: number;
  /** Old entries of the trash that are kept, and why. */
  readonly kept: readonly string[];
  /** Entries of the trash that failed, and why. */
  readonly failed: readonly string[];
  readonly pool: { readonly ready: number; readonly reason: string };
}

/** Whether `tend` has work, found out cheaply. */
export async function needsTending(
  context: WorkspaceContext,
  filesMade: number | undefined,
): Promise<boolean> {
  const { trash, pool, settings, policy, clock } = context;
  const now = trashTime(context, clock.now());
  const all = await trash.all();
  if (all.some((entry) => isOver(entry, now, policy) || isThick(entry))) return true;
  if (all.length > policy.maintenance.emptyTrashKept && emptyOnes({ trash, policy }, all).length > 0)
    return true;
  if (filesMade === undefined) return false;
  if (settings.pool === 'auto') return filesMade >= policy.pool.minTrackedFiles;
  return pool.list().length < settings.pool;
}

/** Undefined when another process does it. */
export async function tend(context: WorkspaceContext): Promise<Tended | undefined> {
  const done = await context.git.tryLock('tend', async () => {
    const base = await newestBase(context);
    const pool = await poolSize(context, base);
    const trash = await tendTrash(context, base, pool.size);
    const ready = base === undefined ? 0 : (await context.pool.refill(pool.size, base)).ready;
    return { ...trash, pool: { ready, reason: pool.reason } };
  });
  return done?.value;
}

async function newestBase({ git, target }: WorkspaceContext): Promise<CommitId | undefined> {
  const branch = await baseBranchOf(git, target, undefined);
  return branch && (await findNewestBase(git, branch))?.commit;
}

async function poolSize(
  context: WorkspaceContext,
  base: CommitId | undefined,
): Promise<{ readonly size: number; readonly reason: string }> {
  const { settings, git, policy, pool, disk, worktreeFolder } = context;
  if (base === undefined) return { size: 0, reason: 'there is no commit to begin from' };
  if (settings.pool === 0) return { size: 0, reason: 'workspace.pool is 0' };
  const files = await git.files(base);
  const facts = {
    trackedFiles: files.length,
    trackedBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    freeDiskBytes: await disk.freeBytes(worktreeFolder),
    allocationsLastHour: await allocationsLastHour(context),
    maxAgents: policy.orchestration.maxAgents,
    ready: pool.list().length,
  };
  return decidePoolSize(facts, settings.pool, policy);
}

const HOUR_MS = 3_600_000;

async function allocationsLastHour({ board, clock, node }: WorkspaceContext): Promise<number> {
  const since = clock.now() - HOUR_MS;
  const all = await board.list('workspace');
  return all.filter((one) => one.node === node && one.worktree !== null && one.preparedAt > since).length;
}

async function tendTrash(
  context: WorkspaceContext,
  base: CommitId | undefined,
  wanted: number,
): Promise<Omit<Tended, 'pool'>> {
  const { git, trash, clock, policy } = context;
  const kept: string[] = [];
  const failed: string[] = [];
  let thinned = 0;
  let deleted = 0;
  const now = trashTime(context, clock.now());
  for (const one of await trash.all()) {
    // To look for processes reads those of the whole machine, so entries without work are passed over first.
    if (!isOver(one, now, policy) && !isThick(one)) continue;
    const { folder, record } = one;
    // An undo holds the task's lock. An entry that fails must not stop the rest.
    const done = await git
      .tryLock(`task-${record.task}`, async () => {
        const entry = await trash.again(folder);
        if (entry === undefined || (await isOccupied(context, entry))) return undefined;
        if (isOver(entry, now, policy)) {
          const deletion = await trash.delete(entry);
          if (deletion.kind === 'kept') kept.push(whyKept(folder, deletion.repositories));
          return deletion.kind === 'deleted' ? 'deleted' : undefined;
        }
        return (await thin(context, entry, base, wanted)) ? 'thinned' : undefined;
      })
      .catch((error: unknown) => ({ value: undefined, error }));
    if (done?.value === 'deleted') deleted += 1;
    if (done?.value === 'thinned') thinned += 1;
    if (done && 'error' in done) failed.push(`${folder}: ${String(done.error)}`);
  }
  deleted += await deleteEmpty(context, failed);
  return { thinned, deleted, kept, failed };
}

/** All but the newest of those that are empty. */
function emptyOnes(
  { trash, policy }: Pick<WorkspaceContext, 'trash' | 'policy'>,
  all: readonly TrashEntry[],
): readonly TrashEntry[] {
  const empty = all.filter((entry) => !entry.isKept && trash.isEmpty(entry));
  return empty.slice(0, Math.max(0, empty.length - policy.maintenance.emptyTrashKept));
}

/** Entries with nothing that git does not hold: their work is on the target, or under a ref of its own. */
async function deleteEmpty({ git, trash, policy }: WorkspaceContext, failed: string[]): Promise<number> {
  let deleted = 0;
  for (const { folder, record } of emptyOnes({ trash, policy }, await trash.all())) {
    await git
      .tryLock(`task-${record.task}`, async () => {
        const entry = await trash.again(folder);
        if (entry === undefined || entry.isBegun || !trash.isEmpty(entry)) return;
        if ((await trash.delete(entry)).kind === 'deleted') deleted += 1;
      })
      .catch((error: unknown) => failed.push(`${folder}: ${String(error)}`));
  }
  return deleted;
}

function whyKept(folder: string, repositories: readonly string[]): string {
  const work = repositories.join(', ');
  return `${folder} is kept: the work in ${work} is nowhere else. Look at it, then delete the folder.`;
}

/** A shell that was in the worktree is in the trash now. */
export async function isOccupied({ occupancy }: WorkspaceContext, { files }: TrashEntry): Promise<boolean> {
  const inside = await occupancy.inside(files, { roots: [], sessions: [] });
  return inside.kind === 'unknown' || inside.processes.length > 0;
}

function isOver({ record, isKept }: TrashEntry, now: Timestamp, { maintenance }: Policy): boolean {
  if (isKept) return false;
  return isTrashOver({ at: record.at, isLeftover: record.why === 'leftover' }, now, maintenance);
}

/** A broken worktree is kept whole: which of its files git holds is unknown. */
function isThick({ record, isThin }: TrashEntry): boolean {
  return record.why !== 'broken' && record.why !== 'leftover' && !isThin;
}

/** Files equal to the base's become a pool entry; of the rest, those that git holds are deleted. */
async function thin(
  { git, pool, trash }: WorkspaceContext,
  entry: TrashEntry,
  base: CommitId | undefined,
  wanted: number,
): Promise<boolean> {
  const { rescue, branchTip } = entry.record;
  if (!isThick(entry)) return false;
  const held = rescue === null ? branchTip : ((await git.tip(rescue)) ?? null);
  if (held === null || (await git.tip(held)) === undefined) return false;
  const files = await git.files(brand(held));
  if (base !== undefined && pool.list().length < wanted) await pool.recycle(entry.files, base, files);
  await trash.thin(entry, files);
  return true;
}
