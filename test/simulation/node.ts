/**
 * One machine of the simulation: its clone of the repository, its folders, its locks and its trash. All of it survives its
 * processes. Objects and the target branch are shared by all machines, as if everybody pushed and fetched all the time;
 * all other refs are a machine's own.
 */

import {
  type AttemptId,
  type BranchName,
  type CommitId,
  type NodeId,
  type TaskId,
  brand,
} from '../../packages/copse/src/kernel/ids.ts';
import type { WorktreeFacts } from '../../packages/copse/src/workspaces/rules/preparation.ts';
import type { ProcessIdentity } from '../../packages/copse/src/kernel/process.ts';
import type {
  Rescue,
  SnapshotOutcome,
  SnapshotRequest,
  Uncommitted,
} from '../../packages/copse/src/git/port.ts';
import type { TargetMove } from '../../packages/copse/src/queue/ports/merging.ts';
import type { TrashRecord } from '../../packages/copse/src/workspaces/ports/trash.ts';
import { type Repository, type Tree, changedPaths, isSame } from './repository.ts';
import type { Process } from './world.ts';

export const TARGET = brand<BranchName>('main');
export const TARGET_REF = `refs/heads/${TARGET}`;

/** A linked worktree as git knows it; its folder is another matter. */
interface Registration {
  readonly name: string;
  readonly path: string;
  readonly branch: BranchName;
  isFinished: boolean;
}

export interface Folder {
  files: Map<string, string>;
}

export interface SimTrashEntry {
  readonly record: TrashRecord;
  files: ReadonlyMap<string, string> | null;
}

/** What all machines see. */
export interface Shared {
  readonly repository: Repository;
  target: CommitId;
  readonly moves: TargetMoved[];
}

interface TargetMoved {
  readonly from: CommitId;
  readonly to: CommitId;
  readonly by: Process | null;
}

export class SimNode {
  readonly id: NodeId;
  readonly root: string;
  readonly worktreeFolder: string;
  readonly shared: Shared;
  readonly refs = new Map<string, CommitId>();
  readonly registrations = new Map<string, Registration>();
  readonly folders = new Map<string, Folder>();
  readonly locks = new Map<string, Process>();
  readonly trash: SimTrashEntry[] = [];
  readonly rescues: Rescue[] = [];
  /** Those whose orders nobody has taken away yet. */
  readonly attempts = new Set<AttemptId>();
  /** Their runners, as whoever started them wrote them down. */
  readonly runners = new Map<AttemptId, ProcessIdentity>();
  /** The files of a checkout that has the target, or null when nobody has it. */
  readonly checkout: { readonly files: Map<string, string>; isBusy: boolean } | null;

  constructor(name: string, shared: Shared, hasCheckout: boolean) {
    this.id = brand<NodeId>(name);
    this.root = `/${name}`;
    this.worktreeFolder = `/${name}/.worktrees`;
    this.shared = shared;
    const { tree } = shared.repository.require(shared.target);
    this.checkout = hasCheckout ? { files: new Map(tree), isBusy: false } : null;
  }

  tip(ref: string): CommitId | undefined {
    return ref === TARGET_REF ? this.shared.target : this.refs.get(ref);
  }

  /** A compare-and-swap; says what is there when it is not what was expected. */
  move(ref: string, from: CommitId | null, to: CommitId | null, by: Process | null): CommitId | null | true {
    const now = this.tip(ref) ?? null;
    if (now !== from) return now;
    if (ref === TARGET_REF) {
      if (to === null || from === null) throw new Error('The target cannot go');
      this.shared.moves.push({ from, to, by });
      this.shared.target = to;
    } else if (to === null) this.refs.delete(ref);
    else this.refs.set(ref, to);
    return true;
  }

  headOf(path: string): CommitId | undefined {
    const registration = this.registrations.get(path);
    return registration && this.tip(`refs/heads/${registration.branch}`);
  }

  look(path: string): WorktreeFacts {
    const registration = this.registrations.get(path);
    if (!this.folders.has(path)) return { state: 'absent', isRegistered: registration !== undefined };
    if (registration === undefined)
      return { state: 'broken', why: 'git does not know it', isUnfinished: false };
    const head = this.headOf(path);
    if (!registration.isFinished)
      return { state: 'broken', why: 'its checkout never ended', isUnfinished: true };
    if (head === undefined) return { state: 'broken', why: 'its branch is gone', isUnfinished: false };
    return { state: 'healthy', branch: registration.branch, head, operation: null };
  }

  requireFolder(path: string): Folder {
    const folder = this.folders.get(path);
    if (folder === undefined) throw new Error(`There is no folder ${path}`);
    return folder;
  }

  headTree(path: string): Tree {
    const head = this.headOf(path);
    return head === undefined ? new Map() : this.shared.repository.require(head).tree;
  }

  uncommitted(path: string): Uncommitted {
    const { files } = this.requireFolder(path);
    const tree = this.headTree(path);
    const differing = changedPaths(files, tree);
    return {
      changed: differing.filter((file) => tree.has(file)),
      untracked: differing.filter((file) => !tree.has(file)),
      unreadable: [],
    };
  }

  holderOf(branch: BranchName): string | undefined {
    if (branch === TARGET) return this.checkout === null ? undefined : this.root;
    return [...this.registrations.values()].find((one) => one.branch === branch)?.path;
  }

  /** Everything in a worktree becomes a commit on its branch. */
  commitAll(path: string, message: string, at: number): CommitId | null {
    const { files } = this.requireFolder(path);
    const head = this.headOf(path);
    const registration = this.registrations.get(path);
    if (head === undefined || registration === undefined) throw new Error(`${path} has no branch`);
    if (isSame(files, this.headTree(path))) return null;
    const commit = this.shared.repository.write([head], new Map(files), message, at);
    this.refs.set(`refs/heads/${registration.branch}`, commit);
    return commit;
  }

  snapshot({ task, worktree, why, at }: SnapshotRequest): SnapshotOutcome {
    const folder = this.folders.get(worktree);
    const head = this.headOf(worktree) ?? null;
    if (folder === undefined || head === null) return { kind: 'nothing_to_save' };
    const { changed, untracked } = this.uncommitted(worktree);
    if (changed.length + untracked.length === 0) return { kind: 'nothing_to_save' };
    const { repository } = this.shared;
    const commit = repository.write([head], new Map(folder.files), `rescue of ${task}`, 0);
    const known = this.rescues.find((one) => one.commit === commit);
    if (known !== undefined) return { kind: 'saved', rescue: known };
    const ref = `refs/copse/rescue/${task}/${at}-${this.rescues.length}`;
    this.refs.set(ref, commit);
    const branch = this.registrations.get(worktree)?.branch ?? null;
    const rescue: Rescue = {
      ref,
      commit,
      task,
      why,
      at,
      branch,
      head,
      changed: changed.length + untracked.length,
    };
    this.rescues.push(rescue);
    return { kind: 'saved', rescue };
  }

  /** As queue/target/target.ts: together with the files of the checkout that has it, if one has. */
  moveTarget(
    from: CommitId,
    to: CommitId,
    { by, isTrial }: { readonly by: Process | null; readonly isTrial: boolean },
  ): TargetMove {
    const { repository } = this.shared;
    if (!repository.isAncestor(from, to)) throw new Error(`The target must not move to ${to}`);
    if (this.shared.target === to) return { kind: 'moved' };
    if (this.shared.target !== from) return { kind: 'changed', tip: this.shared.target };
    const { checkout } = this;
    if (checkout !== null) {
      if (checkout.isBusy)
        return {
          kind: 'busy',
          checkout: this.root,
          reason: 'a merge is not finished there',
        };
      const [was, is] = [repository.require(from).tree, repository.require(to).tree];
      const paths = changedPaths(was, is);
      const files = paths.filter((path) => checkout.files.get(path) !== was.get(path));
      if (files.length > 0) return { kind: 'in_the_way', checkout: this.root, files };
      if (isTrial) return { kind: 'moved' };
      for (const path of paths) {
        const content = is.get(path);
        if (content === undefined) checkout.files.delete(path);
        else checkout.files.set(path, content);
      }
    }
    if (!isTrial) this.move(TARGET_REF, from, to, by);
    return { kind: 'moved' };
  }

  /** The commits that some ref or checkout of this machine leads to. */
  reachable(): ReadonlySet<CommitId> {
    const found = new Set<CommitId>();
    for (const tip of [this.shared.target, ...this.refs.values()])
      for (const id of this.shared.repository.require(tip).ancestors) found.add(id);
    return found;
  }

  release(process: Process): void {
    for (const [name, holder] of this.locks) if (holder === process) this.locks.delete(name);
  }

  pathOf(task: TaskId): string {
    return `${this.worktreeFolder}/${task}`;
  }
}
