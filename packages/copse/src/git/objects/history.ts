/**
 * Finds the common history of two commits, and the commits that only one of them has, without starting git.
 *
 * A walk goes back from both, newest commit first. Each commit passes the flags of its starting points on to its parents,
 * until both have reached every queued commit. A commit may be older than its parents: Copse dates a commit when it is
 * queued. Ancestry does not depend on dates. The list of commits that only one has does, so the walk continues through
 * common history for `SKEW_SECONDS`.
 *
 * A walk past its limit returns undefined, and the caller runs the git command instead.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { Commit } from './commit-object.ts';
import type { Objects } from './objects.ts';

const MOST_READ = defaultPolicy.objectMemory.readCommits;
const MOST_WALKED = defaultPolicy.objectMemory.walkedCommits;
/** How much older than its parents a commit may be, and how many more commits are walked because of that. */
const SKEW_SECONDS = 24 * 60 * 60;
const MOST_SKEWED = defaultPolicy.objectMemory.skewedCommits;

const ONE = 1;
const OTHER = 2;
const BOTH = 3;

/** Undefined past the limit. */
export async function isReachable(
  objects: Objects,
  ancestor: CommitId,
  from: CommitId,
): Promise<boolean | undefined> {
  const walk = new Walk(objects, ancestor, from);
  return (await walk.toCommon(() => walk.isBoth(ancestor))) ? walk.isBoth(ancestor) : undefined;
}

/** Commits reachable from `head` and not from `notFrom`, parents before children. Undefined past the limit. */
export async function commitsOf(
  objects: Objects,
  head: CommitId,
  notFrom: CommitId,
): Promise<readonly Commit[] | undefined> {
  const walk = new Walk(objects, head, notFrom);
  if (!(await walk.toCommon()) || !(await walk.pastSkew())) return undefined;
  const own = new Map<CommitId, Commit>();
  for (const id of walk.ofOne()) own.set(id, await objects.commit(id));
  return parentsFirst(head, own);
}

/** In the order of `git rev-list --topo-order --reverse`: branches are not interleaved. */
export function parentsFirst(head: CommitId, commits: ReadonlyMap<CommitId, Commit>): readonly Commit[] {
  const children = new Map<CommitId, number>();
  for (const { parents } of commits.values())
    for (const parent of parents) children.set(parent, (children.get(parent) ?? 0) + 1);
  const ordered: Commit[] = [];
  const next = [head];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    const commit = commits.get(id);
    if (commit === undefined) continue;
    ordered.push(commit);
    for (const parent of commit.parents) {
      const left = (children.get(parent) ?? 0) - 1;
      children.set(parent, left);
      if (left === 0) next.push(parent);
    }
  }
  return ordered.toReversed();
}

class Walk {
  readonly #objects: Objects;
  readonly #reached = new Map<CommitId, number>();
  /** Sorted by date, the newest last. */
  readonly #queue: Commit[] = [];
  readonly #begin: readonly (readonly [CommitId, number])[];
  readonly #readBefore: number;
  #walked = 0;

  constructor(objects: Objects, one: CommitId, other: CommitId) {
    objects.lookAtShallow();
    this.#objects = objects;
    this.#readBefore = objects.commitsRead;
    this.#begin = [
      [one, ONE],
      [other, OTHER],
    ];
  }

  isBoth(id: CommitId): boolean {
    return this.#reached.get(id) === BOTH;
  }

  *ofOne(): Generator<CommitId> {
    for (const [id, flags] of this.#reached) if (flags === ONE) yield id;
  }

  /** False past the limit. */
  async toCommon(isEnough: () => boolean = () => false): Promise<boolean> {
    for (const [id, flags] of this.#begin) await this.#reach(id, flags);
    while (!isEnough() && this.#queue.some(({ id }) => this.#reached.get(id) !== BOTH))
      if (!(await this.#step())) return false;
    return true;
  }

  async pastSkew(): Promise<boolean> {
    let oldest = Infinity;
    for (const id of this.ofOne()) oldest = Math.min(oldest, (await this.#objects.commit(id)).date);
    for (let left = MOST_SKEWED; left > 0; left -= 1) {
      const newest = this.#queue.at(-1);
      if (newest === undefined || newest.date < oldest - SKEW_SECONDS) return true;
      if (!(await this.#step())) return false;
    }
    return true;
  }

  async #step(): Promise<boolean> {
    const commit = this.#queue.pop();
    if (commit === undefined) return true;
    this.#walked += 1;
    const flags = this.#reached.get(commit.id) ?? 0;
    for (const parent of commit.parents) await this.#reach(parent, flags);
    return this.#walked < MOST_WALKED && this.#objects.commitsRead - this.#readBefore < MOST_READ;
  }

  async #reach(id: CommitId, flags: number): Promise<void> {
    const before = this.#reached.get(id) ?? 0;
    if ((before | flags) === before) return;
    this.#reached.set(id, before | flags);
    const commit = await this.#objects.commit(id);
    let [low, high] = [0, this.#queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#queue[middle]?.date ?? 0) < commit.date) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, commit);
  }
}
