/**
 * What two commits have in common and what only one of them has, without starting git.
 *
 * From both, the newest commit comes first, and what it was reached from is handed on to its parents, until everything
 * that waits is reached from both. A commit may be older than its parents: the committer's date of what Copse makes is the
 * time at which it was queued. Whether one commit is an ancestor of the other does not depend on dates. Which commits only
 * one of them has does, so what they have in common is followed for as long as a clock or a queue may be behind.
 *
 * A walk that would read too much is given up, and the plain command takes its place.
 */

import type { CommitId } from '../../kernel/ids.ts';
import type { Commit } from './commit-object.ts';
import type { Objects } from './objects.ts';

const MOST_READ = 2_000;
const MOST_WALKED = 20_000;
/** How far behind the date of a commit may be that of its parents, and how many commits that is worth. */
const SKEW_SECONDS = 24 * 60 * 60;
const MOST_SKEWED = 1_000;

const ONE = 1;
const OTHER = 2;
const BOTH = 3;

/** Undefined when it would take too long. */
export async function isReachable(
  objects: Objects,
  ancestor: CommitId,
  from: CommitId,
): Promise<boolean | undefined> {
  const walk = new Walk(objects, ancestor, from);
  return (await walk.toCommon(() => walk.isBoth(ancestor))) ? walk.isBoth(ancestor) : undefined;
}

/** Commits that the head has and the other one does not, parents before children. Undefined when it would take too long. */
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

/** In the order of `git rev-list --topo-order --reverse`: lines of history are not mixed. */
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
  /** The newest last. */
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

  /** False when it was given up. */
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
