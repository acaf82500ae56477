/**
 * Which live branches collide, long before one of them lands. A live branch is a branch on this node whose task is not
 * finished. Two that land on the same target are compared, the cheap way first:
 *
 *   1. by the paths that each changed since it left the target (both names of a rename). Disjoint paths are `apart`.
 *   2. by a trial merge of the two tips: `conflict`, or `overlap`: the same files, and git can merge them.
 *
 * A result belongs to the pair of tips and holds until one of them moves, so a look costs only what moved. A pair whose
 * paths meet and that is not merged yet is `pending`, and shown as not compared.
 *
 * Invariants: after a whole look, a pair with unmoved tips that is not among its pairs is apart. The tasks of a pair are in
 * the order of their ids, its tips in the order of its tasks.
 */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';

/** The paths that a branch changes. */
export interface Touched {
  readonly paths: readonly string[];
  /** Folders that became empty. Git may take them for renamed and move files that another branch adds there. */
  readonly emptied: readonly string[];
  /** Too many paths to list: it may meet any branch. */
  readonly isWide: boolean;
}

export interface LiveBranch {
  readonly task: TaskId;
  readonly branch: BranchName;
  readonly target: BranchName;
  readonly tip: CommitId;
  /** The commit where it left the target. */
  readonly base: CommitId;
  readonly touched: Touched;
}

export type PairVerdict =
  /** Their paths met, but they have no file in common. */
  | { readonly kind: 'apart' }
  | { readonly kind: 'overlap' | 'conflict'; readonly files: readonly string[]; readonly omitted: number }
  /** Not compared yet. `was`: the result before a tip moved. */
  | { readonly kind: 'pending'; readonly was: { readonly kind: string; readonly since: Timestamp } | null };

export interface Pair {
  readonly tasks: readonly [TaskId, TaskId];
  readonly tips: readonly [CommitId, CommitId];
  readonly verdict: PairVerdict;
  readonly since: Timestamp;
}

/** What the next look need not read again. */
export interface RadarMemory {
  readonly branches: readonly LiveBranch[];
  readonly pairs: readonly Pair[];
  /** No pair was left out. */
  readonly isWhole: boolean;
}

/** The results of a look, for people. */
export interface Sighting {
  readonly at: Timestamp;
  readonly branches: readonly Pick<LiveBranch, 'task' | 'branch' | 'tip'>[];
  /** Without pairs that are apart; conflicts first. */
  readonly pairs: readonly Pair[];
  readonly omitted: number;
}

export const nothingKnown: RadarMemory = { branches: [], pairs: [], isWhole: true };

/** All pairs whose paths meet; those that need a trial merge are pending. */
export function decidePairs(
  branches: readonly LiveBranch[],
  before: RadarMemory,
  at: Timestamp,
): readonly Pair[] {
  const live = new Map(branches.map((one) => [one.task, one]));
  const were = new Map(before.branches.map((one) => [one.task, one]));
  const hasMoved = ({ task, tip, target }: LiveBranch) => {
    const was = were.get(task);
    return !before.isWhole || was?.tip !== tip || was.target !== target;
  };
  const known = new Map(before.pairs.map((pair) => [keyOf(...pair.tasks), pair]));
  const stayed = before.pairs.filter(({ tasks, tips }) => {
    const [one, other] = tasks.map((task) => live.get(task));
    if (one === undefined || other === undefined || one.target !== other.target) return false;
    return one.tip === tips[0] && other.tip === tips[1];
  });
  const settled = new Set(stayed.map(({ tasks }) => keyOf(...tasks)));
  const pairs = [...stayed];
  for (const moved of branches.filter(hasMoved)) {
    const footprint = new Footprint(moved.touched);
    for (const other of branches) {
      const key = keyOf(moved.task, other.task);
      if (other.task === moved.task || other.target !== moved.target || settled.has(key)) continue;
      settled.add(key);
      if (footprint.meets(other.touched)) pairs.push(pendingPair(moved, other, known.get(key), at));
    }
  }
  return pairs;
}

export function settlePair(pair: Pair, verdict: PairVerdict, at: Timestamp): Pair {
  const was = pair.verdict.kind === 'pending' ? pair.verdict.was : null;
  return { ...pair, verdict, since: was?.kind === verdict.kind ? was.since : at };
}

/** Files that both changed. */
export function sharedFiles(one: Touched, other: Touched): readonly string[] {
  const paths = new Set(one.paths);
  return other.paths.filter((path) => paths.has(path));
}

export function rememberLook(
  branches: readonly LiveBranch[],
  pairs: readonly Pair[],
  { rememberedPairs }: Policy['radar'],
): RadarMemory {
  return { branches, pairs: pairs.slice(0, rememberedPairs), isWhole: pairs.length <= rememberedPairs };
}

/** The lowest first; null: not shown. */
const RANK: Readonly<Record<PairVerdict['kind'], number | null>> = {
  conflict: 0,
  pending: 1,
  overlap: 2,
  apart: null,
};

export function sightingOf(
  branches: readonly LiveBranch[],
  pairs: readonly Pair[],
  at: Timestamp,
  { listedPairs }: Policy['radar'],
): Sighting {
  const found = pairs
    .flatMap((pair) => {
      const rank = RANK[pair.verdict.kind];
      return rank === null ? [] : [{ pair, rank }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ pair }) => pair);
  return {
    at,
    branches: branches.map(({ task, branch, tip }) => ({ task, branch, tip })),
    pairs: found.slice(0, listedPairs),
    omitted: Math.max(0, found.length - listedPairs),
  };
}

/** The tip of a branch: undefined when it is gone, null when it cannot be read. */
export type TipOf = (branch: BranchName) => CommitId | undefined | null;

/** The sighting with current tips: pairs with a moved tip are pending, pairs with a deleted branch are left out. */
export function asOf(sighting: Sighting, tipOf: TipOf): Sighting {
  const branches = new Map(sighting.branches.map((one) => [one.task, one]));
  const seen = new Map<TaskId, CommitId | undefined | null>();
  const now = (task: TaskId) => {
    const branch = branches.get(task);
    if (!seen.has(task)) seen.set(task, branch && tipOf(branch.branch));
    return seen.get(task);
  };
  const pairs = sighting.pairs.flatMap((pair): readonly Pair[] => {
    const tips = pair.tasks.map(now);
    if (tips.includes(undefined)) return [];
    if (pair.tips.every((tip, at) => tip === tips[at])) return [pair];
    const { kind } = pair.verdict;
    const was = pair.verdict.kind === 'pending' ? pair.verdict.was : { kind, since: pair.since };
    return [{ ...pair, verdict: { kind: 'pending', was } }];
  });
  return { ...sighting, pairs };
}

/** A pair from the point of view of one of its tasks. */
export interface Finding {
  readonly other: TaskId;
  readonly verdict: PairVerdict;
  readonly since: Timestamp;
}

export function findingsOf(pairs: readonly Pair[], task: TaskId): readonly Finding[] {
  return pairs.flatMap(({ tasks, verdict, since }) => {
    if (!tasks.includes(task)) return [];
    return [{ other: tasks[0] === task ? tasks[1] : tasks[0], verdict, since }];
  });
}

/** The paths of one branch, indexed for comparing with others. */
class Footprint {
  readonly #isWide: boolean;
  readonly #paths: ReadonlySet<string>;
  readonly #folders: ReadonlySet<string>;
  readonly #emptied: ReadonlySet<string>;

  constructor({ paths, emptied, isWide }: Touched) {
    this.#isWide = isWide;
    this.#paths = new Set(paths);
    this.#folders = new Set(paths.flatMap(foldersOf));
    this.#emptied = new Set(emptied);
  }

  /** The same path, a file where the other has a folder, or a path in a folder that the other emptied. */
  meets({ paths, emptied, isWide }: Touched): boolean {
    if (this.#isWide || isWide) return true;
    if (emptied.some((folder) => this.#folders.has(folder))) return true;
    return paths.some(
      (path) =>
        this.#paths.has(path) ||
        this.#folders.has(path) ||
        foldersOf(path).some((folder) => this.#paths.has(folder) || this.#emptied.has(folder)),
    );
  }
}

/** Without a trailing slash, and without the top folder. */
export function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}

function pendingPair(one: LiveBranch, other: LiveBranch, before: Pair | undefined, at: Timestamp): Pair {
  const [first, second] = one.task < other.task ? [one, other] : [other, one];
  const was = before && (before.verdict.kind === 'pending' ? before.verdict.was : wasOf(before));
  return {
    tasks: [first.task, second.task],
    tips: [first.tip, second.tip],
    verdict: { kind: 'pending', was: was ?? null },
    since: at,
  };
}

function wasOf({ verdict: { kind }, since }: Pair): { readonly kind: string; readonly since: Timestamp } {
  return { kind, since };
}

function keyOf(one: TaskId, other: TaskId): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
