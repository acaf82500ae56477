/** A git repository in memory: commits with whole trees, their ancestry, and merges path by path. */

import { createHash } from 'node:crypto';

import { type CommitId, brand } from '../../packages/copse/src/kernel/ids.ts';
import type {
  Candidate,
  CandidateRequest,
  CommitSummary,
} from '../../packages/copse/src/queue/ports/merging.ts';

export type Tree = ReadonlyMap<string, string>;

export interface Commit {
  readonly id: CommitId;
  readonly parents: readonly CommitId[];
  readonly tree: Tree;
  readonly message: string;
  /** How long the longest way to it is. */
  readonly height: number;
  readonly ancestors: ReadonlySet<CommitId>;
}

export interface MergedTree {
  readonly tree: Tree;
  readonly conflicts: readonly string[];
}

export class Repository {
  readonly commits = new Map<CommitId, Commit>();

  write(parents: readonly CommitId[], tree: Tree, message: string, at: number): CommitId {
    const text = `${parents.join(' ')}\n${keyOf(tree)}\n${message}\n${at}`;
    const id = brand<CommitId>(createHash('sha1').update(text).digest('hex'));
    if (this.commits.has(id)) return id;
    const before = parents.map((parent) => this.require(parent));
    const ancestors = new Set<CommitId>([id]);
    for (const { ancestors: theirs } of before) for (const one of theirs) ancestors.add(one);
    const height = 1 + Math.max(0, ...before.map((one) => one.height));
    this.commits.set(id, { id, parents, tree, message, height, ancestors });
    return id;
  }

  require(id: CommitId): Commit {
    const commit = this.commits.get(id);
    if (commit === undefined) throw new Error(`There is no commit ${id}`);
    return commit;
  }

  isAncestor(ancestor: CommitId, of: CommitId): boolean {
    return this.require(of).ancestors.has(ancestor);
  }

  mergeBase(one: CommitId, other: CommitId): CommitId | undefined {
    const theirs = this.require(other).ancestors;
    let best: Commit | undefined;
    for (const id of this.require(one).ancestors) {
      const commit = theirs.has(id) ? this.require(id) : undefined;
      const isBetter =
        commit !== undefined &&
        (best === undefined ||
          commit.height > best.height ||
          (commit.height === best.height && commit.id < best.id));
      if (isBetter) best = commit;
    }
    return best?.id;
  }

  /** Newest first. */
  between(notFrom: CommitId, from: CommitId): readonly Commit[] {
    const known = this.require(notFrom).ancestors;
    const fresh = [...this.require(from).ancestors]
      .filter((id) => !known.has(id))
      .map((id) => this.require(id));
    return fresh.toSorted((one, other) => other.height - one.height || (one.id < other.id ? -1 : 1));
  }

  merge(ours: CommitId, theirs: CommitId): MergedTree {
    const base = this.mergeBase(ours, theirs);
    const empty: Tree = new Map();
    return mergeTrees(
      base === undefined ? empty : this.require(base).tree,
      this.require(ours).tree,
      this.require(theirs).tree,
    );
  }

  /** As queue/merge/build.ts does it, for trees that have no reverts in them. */
  build(request: CandidateRequest): Candidate {
    const made = this.#build(request);
    if (made.kind !== 'built') return made;
    return { ...made, tree: this.treeOf(made.commit) };
  }

  /** A name for it: the same for the same files. */
  treeOf(commit: CommitId): string {
    return JSON.stringify([...this.require(commit).tree].toSorted());
  }

  #build(request: CandidateRequest): Candidate | Omit<Built, 'tree'> {
    const { onto, head, method, at } = request;
    if (this.isAncestor(head, onto)) return { kind: 'built', commit: onto, commits: 0, note: null };
    const base = this.mergeBase(onto, head);
    if (base === undefined) return { kind: 'unrelated' };
    const merged = this.merge(onto, head);
    const isClean = merged.conflicts.length === 0;
    const own = this.between(onto, head).toReversed();
    if (isClean && isSame(merged.tree, this.require(onto).tree))
      return { kind: 'built', commit: onto, commits: 0, note: null };
    const trailer = `Task: ${request.task}`;
    if (method === 'squash' && isClean) {
      const commit = this.write(
        [onto],
        merged.tree,
        `${request.title}\n\n${own.map(subjectOf).join('\n')}\n\n${trailer}\n`,
        at,
      );
      return { kind: 'built', commit, commits: 1, note: null };
    }
    const isLinear = own.every(({ parents }) => parents.length === 1);
    const replayed = method === 'rebase' && isLinear ? this.#replay(own, onto, trailer, at) : undefined;
    if (replayed !== undefined && (!isClean || isSame(this.require(replayed.commit).tree, merged.tree)))
      return { kind: 'built', ...replayed, note: null };
    if (!isClean) return { kind: 'conflict', files: merged.conflicts, theirs: [] };
    const message = `Merge ${request.branch} into ${request.target}\n\n${request.title}\n\n${trailer}\n`;
    const commit = this.write([onto, head], merged.tree, message, at);
    return {
      kind: 'built',
      commit,
      commits: own.length + 1,
      note: method === 'rebase' ? 'Merged instead of rebased.' : null,
    };
  }

  #replay(
    own: readonly Commit[],
    onto: CommitId,
    trailer: string,
    at: number,
  ): { readonly commit: CommitId; readonly commits: number } | undefined {
    let tip = onto;
    let count = 0;
    for (const commit of own) {
      const [parent] = commit.parents;
      if (parent === undefined) return undefined;
      if (parent === tip && commit.message.includes(trailer)) {
        tip = commit.id;
        count += 1;
        continue;
      }
      const { tree, conflicts } = mergeTrees(this.require(parent).tree, this.require(tip).tree, commit.tree);
      if (conflicts.length > 0) return undefined;
      if (isSame(tree, this.require(tip).tree)) continue;
      const message = commit.message.includes(trailer) ? commit.message : `${commit.message}\n\n${trailer}\n`;
      tip = this.write([tip], tree, message, at);
      count += 1;
    }
    return { commit: tip, commits: count };
  }
}

type Built = Extract<Candidate, { kind: 'built' }>;

export function subjectOf({ message }: Commit): string {
  return message.split('\n', 1)[0] ?? '';
}

export function summaryOf(commit: Commit): CommitSummary {
  const [subject = '', ...body] = commit.message.split('\n');
  return { id: commit.id, subject, body: body.join('\n'), isMerge: commit.parents.length > 1 };
}

function mergeTrees(base: Tree, ours: Tree, theirs: Tree): MergedTree {
  const tree = new Map(ours);
  const conflicts: string[] = [];
  for (const path of new Set([...base.keys(), ...theirs.keys()])) {
    const [was, our, their] = [base.get(path), ours.get(path), theirs.get(path)];
    if (their === was || their === our) continue;
    if (our !== was) conflicts.push(path);
    else if (their === undefined) tree.delete(path);
    else tree.set(path, their);
  }
  return { tree, conflicts: conflicts.toSorted() };
}

export function isSame(one: Tree, other: Tree): boolean {
  if (one.size !== other.size) return false;
  for (const [path, content] of one) if (other.get(path) !== content) return false;
  return true;
}

/** Paths in which two trees differ. */
export function changedPaths(one: Tree, other: Tree): readonly string[] {
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].filter((path) => one.get(path) !== other.get(path)).toSorted();
}

function keyOf(tree: Tree): string {
  return [...tree]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map((entry) => entry.join('\0'))
    .join('\u0001');
}
