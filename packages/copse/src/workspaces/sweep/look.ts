/** The facts of a sweep. Looking changes nothing, and reads files of a worktree only where no age keeps it. */

import { type TaskId, parseTaskId } from '../../kernel/ids.ts';
import { isFinished } from '../../tasks/rules/task.ts';
import { parseQueueWorktree } from '../rules/naming.ts';
import type {
  FoundLogs,
  FoundRecord,
  FoundSession,
  FoundSnapshot,
  FoundTrash,
  FoundWorktree,
  SweepFacts,
  SweptKind,
} from '../rules/sweep/things.ts';
import { isTrashOver } from '../rules/sweep/plan.ts';
import type { Workspace } from '../rules/workspace.ts';
import type { TrashEntry } from '../ports/trash.ts';
import { isOccupied } from '../act/tend.ts';
import { listShared } from '../discard/drop-shared.ts';
import { gatherFacts } from '../discard/removal-gate.ts';
import { findStrays } from '../discard/stray-branches.ts';
import type { SweepContext } from './context.ts';
import { findBranches } from './look-branches.ts';
import { ofTask, ownersOf } from './owners.ts';
import { trashTime } from './trash-time.ts';

export interface SweepLookOptions {
  readonly kinds: ReadonlySet<SweptKind>;
  /** Sizes, for people; a disk budget needs them in any case. */
  readonly isMeasured: boolean;
}

export async function lookAround(context: SweepContext, options: SweepLookOptions): Promise<SweepFacts> {
  const { kinds } = options;
  const { clock, policy } = context;
  const hasBudget = policy.maintenance.maxDiskBytes !== null && kinds.has('worktree');
  const sizeOf = measure(context, hasBudget || options.isMeasured);
  const workspaces =
    kinds.has('worktree') || kinds.has('branch') ? await context.board.list('workspace') : [];
  const find = <T>(kind: SweptKind, work: () => Promise<readonly T[]>) =>
    kinds.has(kind) ? work() : Promise.resolve([]);
  // One after the other: to look at a worktree starts gits in it.
  return {
    now: clock.now(),
    trashNow: trashTime(context, clock.now()),
    worktrees: await find('worktree', () => findWorktrees(context, workspaces, { sizeOf, hasBudget })),
    branches: await find('branch', () => findBranches(context, workspaces)),
    trash: await find('trash', () => findTrash(context, { sizeOf, hasBudget })),
    sessions: await find('session', () => findSessions(context)),
    logs: await find('logs', () => findLogs(context, sizeOf)),
    snapshots: await find('snapshot', () => findSnapshots(context)),
    records: await find('record', async () => findRecords(context, workspaces)),
  };
}

type SizeOf = (folder: string) => Promise<number | null>;

function measure({ leftovers, policy }: SweepContext, isMeasured: boolean): SizeOf {
  return isMeasured ? leftovers.measuring(policy.maintenance.measureMs) : () => Promise.resolve(null);
}

interface Measuring {
  readonly sizeOf: SizeOf;
  /** Young things are looked at too: the budget may need them. */
  readonly hasBudget: boolean;
}

async function findWorktrees(
  context: SweepContext,
  workspaces: readonly Workspace[],
  measuring: Measuring,
): Promise<readonly FoundWorktree[]> {
  const { git, node, worktreeFolder } = context;
  const known = new Map<TaskId, { readonly path: string; readonly workspace?: Workspace }>();
  for (const { name, path } of git.worktrees()) {
    const task = parseTaskId(name);
    if (task !== undefined && path === `${worktreeFolder}/${task}`) known.set(task, { path });
  }
  for (const workspace of workspaces)
    if (workspace.node === node && workspace.disposition.is !== 'released' && workspace.worktree !== null)
      known.set(workspace.task, { path: workspace.worktree.path, workspace });
  const ownerOf = await ownersOf(context, [...known.keys()]);
  const found: FoundWorktree[] = [];
  for (const [task, { path, workspace }] of known)
    found.push(await lookAtWorktree(context, { task, path, workspace, owner: ownerOf(task) }, measuring));
  return found;
}

async function lookAtWorktree(
  context: SweepContext,
  of: Pick<FoundWorktree, 'task' | 'path' | 'owner'> & { readonly workspace: Workspace | undefined },
  { sizeOf, hasBudget }: Measuring,
): Promise<FoundWorktree> {
  const { board, leftovers } = context;
  const { workspace, ...named } = of;
  const about = await ofTask(context, await board.get('task', of.task), workspace);
  const changedAt = leftovers.changedAt(of.path) ?? null;
  const one = { ...named, ...about, changedAt, isThere: changedAt !== null };
  const isWanted = await needsLook(context, one, hasBudget);
  return {
    ...one,
    removal: isWanted ? await gatherFacts(context, of.task, of.path, workspace, 'without_hooks') : null,
    strays: isWanted && workspace ? (await findStrays(context, workspace)).map(({ branch }) => branch) : [],
    bytes: changedAt === null ? 0 : await sizeOf(of.path),
  };
}

/** Whether the gate has to be asked: counting reads every file of a worktree. */
async function needsLook(
  { board, clock, policy }: SweepContext,
  one: Omit<FoundWorktree, 'removal' | 'strays' | 'bytes'>,
  hasBudget: boolean,
): Promise<boolean> {
  const { owner, since, task } = one;
  const { finishedWorktreeAgeMs, abandonedWorktreeAgeMs } = policy.maintenance;
  const now = clock.now();
  if (owner === 'unknown' || owner === 'deleted') return true;
  if (owner === 'failed') return one.cleanupOnFailure;
  if (owner === 'in_progress') {
    const lease = one.isRecovered ? undefined : await board.lease(task);
    return lease !== undefined && now - lease.expiresAt >= abandonedWorktreeAgeMs;
  }
  if (!isFinished(owner)) return false;
  return hasBudget || !one.isThere || since === null || now - since >= finishedWorktreeAgeMs;
}

async function findTrash(
  context: SweepContext,
  { sizeOf, hasBudget }: Measuring,
): Promise<readonly FoundTrash[]> {
  const found: FoundTrash[] = [];
  for (const entry of await context.trash.all())
    found.push(await lookAtTrash(context, entry, { hasBudget, sizeOf }));
  return found;
}

/** Reads folders and processes only of an entry that may go. An agent can make folders that no one can read. */
export async function lookAtTrash(
  context: SweepContext,
  entry: TrashEntry,
  { hasBudget, sizeOf }: Pick<Measuring, 'hasBudget'> & Partial<Measuring>,
): Promise<FoundTrash> {
  const { trash, clock, policy } = context;
  const { folder, isKept, isBegun, record } = entry;
  const { task, at } = record;
  const isLeftover = record.why === 'leftover';
  const isOver = isTrashOver({ at, isLeftover }, trashTime(context, clock.now()), policy.maintenance);
  const one = { folder, task, at, isLeftover, isBegun };
  try {
    const isEmpty = trash.isEmpty(entry);
    const mayGo = isOver || (hasBudget && isEmpty);
    return {
      ...one,
      isEmpty,
      repositories: isKept || mayGo ? trash.repositories(entry) : [],
      isOccupied: mayGo ? await isOccupied(context, entry) : null,
      bytes: sizeOf === undefined ? null : await sizeOf(folder),
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...one, isEmpty: false, repositories: [], isOccupied: null, bytes: null, problem };
  }
}

async function findLogs(context: SweepContext, sizeOf: SizeOf): Promise<readonly FoundLogs[]> {
  const all = context.leftovers.logs();
  const ownerOf = await ownersOf(
    context,
    all.map(({ task }) => task),
  );
  const transcripts = new Map<TaskId, number>();
  for (const { task, bytes } of context.leftovers.transcripts())
    transcripts.set(task, (transcripts.get(task) ?? 0) + bytes);
  const needed = await importsOf(context);
  const found: FoundLogs[] = [];
  const ofSessions = new Set((await findSessions(context)).map(({ task }) => task));
  for (const [newer, { hasOnlyTranscripts, ...one }] of all.entries()) {
    if (one.kind === 'logs' && hasOnlyTranscripts && ofSessions.has(one.task)) continue;
    const whole = await sizeOf(one.folder);
    // Transcripts are things of their own.
    const others = one.kind === 'logs' ? (transcripts.get(one.task) ?? 0) : 0;
    const bytes = whole === null ? null : Math.max(0, whole - others);
    const neededBy = one.kind === 'artifacts' ? (needed.get(one.task) ?? null) : null;
    found.push({ ...one, owner: ownerOf(one.task), newer, bytes, neededBy });
  }
  return found;
}

/** Tasks whose artifacts an import needs that is not over, with that import. */
export async function importsOf({
  board,
}: Pick<SweepContext, 'board'>): Promise<ReadonlyMap<TaskId, TaskId>> {
  const tasks = await board.tasks({ order: 'recent' });
  return new Map(
    tasks.flatMap(({ id, from, state }) => (from && !isFinished(state.status) ? [[from.task, id]] : [])),
  );
}

export async function findSessions(context: SweepContext, only?: TaskId): Promise<readonly FoundSession[]> {
  const { board, leftovers } = context;
  const files = leftovers.transcripts(only);
  const attempts = await board.some(
    'attempt',
    files.map(({ attempt }) => attempt),
  );
  const ownerOf = await ownersOf(
    context,
    files.map(({ task }) => task),
  );
  const found = new Map<string, FoundSession>();
  for (const { file, attempt: id, task, bytes } of files) {
    const attempt = attempts.get(id);
    // A file that carries the name of another task's attempt is not Copse's.
    if (attempt === undefined || attempt.task !== task) continue;
    const before = found.get(attempt.session);
    const endedAt = attempt.end?.at ?? null;
    const latest = before === undefined ? endedAt : latestOf(before.endedAt, endedAt);
    found.set(attempt.session, {
      session: attempt.session,
      task,
      owner: ownerOf(task),
      endedAt: latest,
      files: [...(before?.files ?? []), file],
      bytes: (before?.bytes ?? 0) + bytes,
    });
  }
  return [...found.values()];
}

/** Null if one of them has not ended. */
function latestOf(one: FoundSession['endedAt'], other: FoundSession['endedAt']): FoundSession['endedAt'] {
  if (one === null || other === null) return null;
  return one > other ? one : other;
}

async function findSnapshots(context: SweepContext): Promise<readonly FoundSnapshot[]> {
  const all = await listShared(context);
  return all.map(({ task, token, end }) => ({ ref: `refs/copse/work/${task}/${token}`, task, token, end }));
}

/** Git would prune them; Copse leaves to their owners what it did not make. */
function findRecords(
  { git, leftovers }: SweepContext,
  workspaces: readonly Workspace[],
): readonly FoundRecord[] {
  const ours = new Set(workspaces.map(({ worktree }) => worktree?.path));
  return git
    .worktrees()
    .filter(({ name, path }) => parseTaskId(name) === undefined && !ours.has(path))
    .filter(({ name }) => parseQueueWorktree(name) === undefined)
    .filter(({ path }) => leftovers.changedAt(path) === undefined);
}
