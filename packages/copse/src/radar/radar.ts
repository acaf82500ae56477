/**
 * Runs the conflict radar: finds live branches, reads those that moved, and does a trial merge for each pair that needs
 * one (rules/radar.ts decides which). One process looks at a time. All results are derived: the next look finds lost ones
 * again. Only commits count, not uncommitted changes.
 */

import { type BranchName, type CommitId, type TaskId, parseTaskId } from '../kernel/ids.ts';
import {
  type LiveBranch,
  type Pair,
  type RadarMemory,
  type Sighting,
  type PairVerdict,
  asOf,
  decidePairs,
  nothingKnown,
  rememberLook,
  settlePair,
  sharedFiles,
  sightingOf,
} from './rules/radar.ts';
import { isFinished } from '../tasks/rules/task.ts';
import type { Merging } from '../queue/ports/merging.ts';
import type { Radar, RadarSight } from './port.ts';
import { baseBranchOf, findNewestBase } from '../workspaces/act/newest-base.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';

export type RadarContext = Pick<
  WorkspaceContext,
  'board' | 'clock' | 'git' | 'node' | 'policy' | 'target'
> & { readonly merging: Pick<Merging, 'trial'>; readonly radar: Radar };

export interface RadarLook {
  /** All results; pairs beyond `mostTrials` are pending. */
  readonly sighting: Sighting;
  /** A branch had moved. */
  readonly isNew: boolean;
  readonly problems: readonly string[];
}

export interface LookOptions {
  readonly mostTrials?: number;
  /** How long to wait for another process that is looking. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** Undefined while another process is looking. */
export async function refreshRadar(
  context: RadarContext,
  options: LookOptions = {},
): Promise<RadarLook | undefined> {
  const { patienceMs = 0 } = options;
  const done = await context.git.tryLock('radar', () => look(context, options), { patienceMs });
  return done?.value;
}

/** The results of the last look that are still true. Merges nothing. */
export function lastSighting({ sighting, tipOf }: RadarSight): Sighting | undefined {
  const last = sighting.load();
  return last && asOf(last, tipOf);
}

async function look(context: RadarContext, options: LookOptions): Promise<RadarLook> {
  const { radar, clock, policy } = context;
  const before = radar.memory.load() ?? nothingKnown;
  const { branches, problems } = await loadBranches(context, before);
  const last = radar.sighting.load();
  if (last !== undefined && isUnchanged(branches, before)) return { sighting: last, isNew: false, problems };
  const wanted = decidePairs(branches, before, clock.now());
  const tried = await tryPairs(context, branches, wanted, options);
  const sighting = sightingOf(branches, tried.pairs, clock.now(), policy.radar);
  // Sighting first: a newer memory would claim that nothing has moved, and the sighting would stay stale.
  radar.sighting.save(sighting);
  radar.memory.save(rememberLook(branches, tried.pairs, policy.radar));
  return { sighting, isNew: true, problems: [...problems, ...tried.problems] };
}

function isUnchanged(branches: readonly LiveBranch[], before: RadarMemory): boolean {
  // loadBranches returns the remembered object for a branch that has not moved.
  const known = new Set(before.branches);
  return (
    before.isWhole &&
    branches.length === known.size &&
    branches.every((branch) => known.has(branch)) &&
    before.pairs.every(({ verdict }) => verdict.kind !== 'pending')
  );
}

/** A branch that cannot be read is reported, and the others are loaded. */
async function loadBranches(
  context: RadarContext,
  before: RadarMemory,
): Promise<{ readonly branches: readonly LiveBranch[]; readonly problems: readonly string[] }> {
  const { git } = context;
  const known = new Map(before.branches.map((one) => [one.task, one]));
  const targets = new Map<BranchName, Promise<CommitId | undefined>>();
  const newest = async (target: BranchName) => (await findNewestBase(git, target))?.commit;
  const branches: LiveBranch[] = [];
  const problems: string[] = [];
  for (const live of await findLive(context)) {
    try {
      const { branch, target } = live;
      const tip = await git.tip(`refs/heads/${branch}`);
      const was = known.get(live.task);
      const isKnown = was?.tip === tip && was?.branch === branch && was.target === target;
      if (isKnown) {
        branches.push(was);
        continue;
      }
      if (!targets.has(target)) targets.set(target, newest(target));
      const onto = await targets.get(target);
      const loaded = tip && onto && (await loadBranch(context, live, tip, onto));
      if (loaded) branches.push(loaded);
    } catch (error) {
      problems.push(`Cannot read ${live.branch}: ${messageOf(error)}`);
    }
  }
  return { branches, problems };
}

/** Undefined when it has no commit in common with its target. */
async function loadBranch(
  { git, radar, policy }: RadarContext,
  live: Live,
  tip: CommitId,
  onto: CommitId,
): Promise<LiveBranch | undefined> {
  const base = await git.mergeBase(tip, onto);
  if (base === undefined) return undefined;
  return { ...live, tip, base, touched: await radar.touched(base, tip, policy.radar.pathsPerBranch) };
}

type Live = Pick<LiveBranch, 'task' | 'branch' | 'target'>;

/** Branches of unfinished tasks that have a worktree on this node or are queued to land. */
async function findLive({ board, git, node, target }: RadarContext): Promise<readonly Live[]> {
  const landings = new Map((await board.openLandings()).map((landing) => [landing.task, landing.target]));
  const named = git.worktrees().flatMap(({ name }) => parseTaskId(name) ?? []);
  const tasks = [...new Set([...named, ...landings.keys()])].toSorted();
  const statuses = await board.statuses(tasks);
  const live: Live[] = [];
  for (const task of tasks) {
    const status = statuses.get(task);
    if (status === undefined || isFinished(status)) continue;
    const worktree = await lastWorktree(board, node, task);
    if (worktree === null) continue;
    const { branch, baseBranch } = worktree;
    const begunFrom = baseBranch === 'HEAD' ? undefined : baseBranch;
    const onto = landings.get(task) ?? begunFrom ?? (await baseBranchOf(git, target, undefined));
    if (onto !== undefined) live.push({ task, branch, target: onto });
  }
  return live;
}

async function lastWorktree(board: RadarContext['board'], node: RadarContext['node'], task: TaskId) {
  const all = await board.list('workspace', { task });
  return all.findLast((one) => one.node === node && one.worktree !== null)?.worktree ?? null;
}

async function tryPairs(
  context: RadarContext,
  branches: readonly LiveBranch[],
  wanted: readonly Pair[],
  { mostTrials = Number.POSITIVE_INFINITY, signal }: LookOptions,
): Promise<{ readonly pairs: readonly Pair[]; readonly problems: readonly string[] }> {
  const byTask = new Map(branches.map((one) => [one.task, one]));
  const pairs: Pair[] = [];
  const problems: string[] = [];
  let trials = 0;
  for (const pair of wanted) {
    const [one, other] = [byTask.get(pair.tasks[0]), byTask.get(pair.tasks[1])];
    const isDue = pair.verdict.kind === 'pending' && trials < mostTrials && !signal?.aborted;
    if (!isDue || one === undefined || other === undefined) {
      pairs.push(pair);
      continue;
    }
    trials += 1;
    try {
      pairs.push(settlePair(pair, await tryPair(context, one, other), context.clock.now()));
    } catch (error) {
      // A branch was moved or deleted meanwhile; the next look tries the pair again.
      pairs.push(pair);
      problems.push(`Cannot compare ${one.branch} and ${other.branch}: ${messageOf(error)}`);
    }
  }
  return { pairs, problems };
}

async function tryPair(
  { git, merging, policy }: RadarContext,
  one: LiveBranch,
  other: LiveBranch,
): Promise<PairVerdict> {
  const listing = (kind: 'overlap' | 'conflict', files: readonly string[]): PairVerdict => {
    const listed = files.toSorted().slice(0, policy.radar.listedFiles);
    return { kind, files: listed, omitted: files.length - listed.length };
  };
  const { conflicts } = await merging.trial(one.tip, other.tip, 'merge');
  const theirs = conflicts.length === 0 ? [] : await conflictsWithTarget(merging, one, other);
  const own = conflicts.filter((file) => !theirs.includes(file));
  if (own.length > 0) return listing('conflict', own);
  const shared = sharedFiles(one.touched, other.touched);
  if (shared.length === 0) return { kind: 'apart' };
  // A branch that contains the other builds on it.
  const common = await git.mergeBase(one.tip, other.tip);
  return common === one.tip || common === other.tip ? { kind: 'apart' } : listing('overlap', shared);
}

/** An older branch may conflict with commits that landed since; the other branch contains them but did not write them. */
async function conflictsWithTarget(
  merging: RadarContext['merging'],
  one: LiveBranch,
  other: LiveBranch,
): Promise<readonly string[]> {
  if (one.base === other.base) return [];
  const [first, second] = [
    await merging.trial(other.base, one.tip, 'merge'),
    await merging.trial(one.base, other.tip, 'merge'),
  ];
  return [...first.conflicts, ...second.conflicts];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
