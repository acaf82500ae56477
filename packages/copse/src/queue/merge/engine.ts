/**
 * Makes merges with long-lived gits in a throwaway object store (quarantine.ts). Only the objects of finished candidates
 * leave it.
 *
 * `.gitattributes` can change how a file is merged; attributes.ts decides which of them count. Each set of attributes has a
 * git of its own, because git reads these files once.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { type CommitId, brand, timestamp } from '../../kernel/ids.ts';
import { type Merged, Merger, parseMerged } from '../../git/long-lived.ts';
import { type Attributes, layAttributes } from './attributes.ts';
import {
  type NewCommit,
  copseAt,
  encodeCommit,
  ObjectReader,
  Objects,
  idBytesOf,
  isOutOfSpace,
  pairs,
  Quarantine,
} from '../../git/objects.ts';
import { type FileVersions, type Splice, mergeFile, splice } from './splice.ts';
import { GitFailed, type GitOptions, settingsEnv, tryGit, type TrustedDir } from '../../git/process.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';

/** After so many merges, the size of the store is checked. */
const LOOK_EVERY = 256;
const MOST_MERGES = defaultPolicy.mergeMemory.merges;
const MOST_BYTES = defaultPolicy.mergeMemory.bytes;
const MOST_MERGERS = defaultPolicy.mergeMemory.mergers;
const MOST_MERGED_FILES = defaultPolicy.mergeMemory.mergedFiles;
const MOST_TREES = defaultPolicy.mergeMemory.trees;
const MOST_PACKS = defaultPolicy.mergeMemory.packs;
const MOST_HELD_BYTES = defaultPolicy.mergeMemory.heldBytes;

/** The long-lived processes, the store and the caches that all merges share. */
export class MergeEngine {
  readonly dir: TrustedDir;
  readonly quarantine: Quarantine;
  readonly objects: Objects;
  /** Results of merging three versions of a file, while their objects are in the store. */
  readonly mergedFiles = new RecentCache<string, Promise<string | undefined>>(MOST_MERGED_FILES);
  readonly asWritten = new RecentCache<string, true>(MOST_TREES);
  readonly #mergers = new Map<string, Merger>();
  #users = 0;
  /** Resolved when the last merge ended. */
  #idle: PromiseWithResolvers<void> | undefined;
  #moving: Promise<void> | undefined;
  #merges = 0;
  #merging = 0;

  constructor(dir: TrustedDir) {
    this.dir = dir;
    this.quarantine = new Quarantine(dir);
    const { quarantine } = this;
    const reader = new ObjectReader(dir, {
      get env() {
        return quarantine.readingEnv;
      },
    });
    const places = {
      get folders() {
        return [quarantine.objects, quarantine.store];
      },
      quarantine,
    };
    this.objects = new Objects(dir, reader, places);
  }

  /** Objects written during `work` exist until it ends. If memory is full, it is done again on the disk. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    await this.#moving;
    const before = this.quarantine.folder;
    try {
      return await this.#use(work);
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      this.#moving ??= this.#moveToDisk().finally(() => (this.#moving = undefined));
      await this.#moving;
      if (this.quarantine.folder === before) throw error;
      return this.#use(work);
    }
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      // First: git ignores an object folder that does not exist when it starts.
      if (await this.quarantine.open()) await this.#startAnew();
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#users === 0) {
        this.#idle?.resolve();
        this.#idle = undefined;
        await this.#clearUp();
      }
    }
  }

  /** Once the last merge ended. */
  async #moveToDisk(): Promise<void> {
    if (this.#users > 0) await (this.#idle ??= Promise.withResolvers<void>()).promise;
    if (!this.quarantine.moveToDisk()) return;
    await this.objects.reader.rest();
    await this.#startAnew();
  }

  gitFor(attributes: Attributes | undefined): Merger {
    this.#merges += 1;
    this.#merging += 1;
    const key = attributes?.key ?? '';
    const known = this.#mergers.get(key) ?? new Merger(this.dir, this.plainOptions(attributes));
    this.#mergers.delete(key);
    this.#mergers.set(key, known);
    const [[oldest, merger] = [key, known]] = this.#mergers;
    if (this.#mergers.size > MOST_MERGERS) {
      this.#mergers.delete(oldest);
      void merger.close();
    }
    return known;
  }

  /** For a git that can read the store. */
  plainOptions(attributes: Attributes | undefined): Pick<GitOptions, 'env' | 'workTree'> {
    const env = { ...this.quarantine.env, ...NOT_TO_DISK };
    return attributes === undefined ? { env } : { env, workTree: attributes.folder };
  }

  async close(): Promise<void> {
    await Promise.all([this.objects.reader.close(), this.#closeMergers()]);
    this.quarantine.close();
  }

  /** The store is new, so that results in it are gone. */
  async #startAnew(): Promise<void> {
    this.mergedFiles.clear();
    await this.#closeMergers();
  }

  async #closeMergers(): Promise<void> {
    const mergers = [...this.#mergers.values()];
    this.#mergers.clear();
    await Promise.all(mergers.map((merger) => merger.close()));
  }

  async #clearUp(): Promise<void> {
    this.quarantine.forget();
    if (this.quarantine.heldBytes > MOST_HELD_BYTES) await this.quarantine.bringAll();
    if (!this.#isFull()) return;
    [this.#merging, this.#merges] = [0, 0];
    await this.#closeMergers();
    if (this.#users > 0) return;
    this.quarantine.empty();
    this.mergedFiles.clear();
  }

  #isFull(): boolean {
    if (this.quarantine.packs >= MOST_PACKS || this.#merges >= MOST_MERGES) return true;
    if (this.#merging < LOOK_EVERY) return false;
    this.#merging = 0;
    return this.quarantine.bytes() >= MOST_BYTES;
  }
}

/** Nothing in the store has to survive a crash; candidates are synced to disk when they go into the repository. */
const NOT_TO_DISK = settingsEnv([['core.fsync', 'none']]);

/** Merges under the attributes of one target. */
export interface TargetMerger {
  readonly objects: Objects;
  /** Undefined for unrelated histories, unless they are allowed. Paths have one character per byte. */
  merge(ours: CommitId, theirs: CommitId, options?: MergeOptions): Promise<Merged | undefined>;
  /** Merges trees without git; undefined when only git can decide. */
  splice(trees: Splice): Promise<string | undefined>;
  /** Into the store, not into the repository. */
  write(commit: NewCommit): CommitId;
  /** Writes a commit that only a merge needs. */
  writeTemporary(tree: string, parents: readonly CommitId[]): CommitId;
}

interface MergeOptions {
  readonly allowsUnrelated?: boolean;
}

export interface TargetMergerRequest {
  /** The tree whose attributes apply. */
  readonly target: string;
  /** The paths to merge; one character per byte. */
  readonly paths: Iterable<string>;
}

export async function openTargetMerger(
  engine: MergeEngine,
  { target, paths }: TargetMergerRequest,
): Promise<TargetMerger> {
  const { objects, quarantine } = engine;
  const attributes = await layAttributes(objects, quarantine.folder, target, paths);
  const writeTemporary = (tree: string, parents: readonly CommitId[]): CommitId =>
    brand(quarantine.write('commit', encodeCommit(temporaryCommit(tree, parents))));
  const merge = (ours: CommitId, theirs: CommitId): Promise<Merged> =>
    engine.gitFor(attributes).merge(ours, theirs);
  const mergeVersions = (versions: FileVersions): Promise<string | undefined> => {
    // The path matters only to attributes.
    const file = attributes === undefined ? { ...versions, path: 'file' } : versions;
    const key = JSON.stringify([attributes?.key, file]);
    const known =
      engine.mergedFiles.get(key) ?? mergeFile({ objects, quarantine, writeTemporary, merge }, file);
    engine.mergedFiles.set(key, known);
    return known;
  };
  return {
    objects,
    write(commit) {
      const content = encodeCommit(commit);
      const id = brand<CommitId>(quarantine.write('commit', content));
      objects.remember(id, content);
      return id;
    },
    writeTemporary,
    splice: (trees) =>
      splice({ objects, quarantine, asWritten: engine.asWritten, mergeFile: mergeVersions }, trees),
    async merge(ours, theirs, { allowsUnrelated = false } = {}) {
      quarantine.flush();
      if (allowsUnrelated) return mergeUnrelated(engine.dir, ours, theirs, engine.plainOptions(attributes));
      try {
        return await merge(ours, theirs);
      } catch (error) {
        if (error instanceof GitFailed && UNRELATED.test(error.stderr)) return undefined;
        throw error;
      }
    },
  };
}

const UNRELATED = /unrelated histories/;

function temporaryCommit(tree: string, parents: readonly CommitId[]): NewCommit {
  const at = timestamp(0);
  const message = 'copse: stands in for a merge\n';
  return { tree, parents, author: copseAt(at), encoding: undefined, message, at };
}

async function mergeUnrelated(
  dir: TrustedDir,
  ours: CommitId,
  theirs: CommitId,
  options: GitOptions,
): Promise<Merged> {
  const argv = ['merge-tree', '--write-tree', '-z', '--allow-unrelated-histories', ours, theirs];
  const { code, stdout, stderr } = await tryGit(dir, argv, options);
  if (code > 1 || stdout.length === 0) throw new GitFailed(argv, code, stderr);
  return parseMerged(code === 0, stdout);
}

/** Notes which objects of a finished candidate the repository may lack: its new commits, and the new objects in them. */
export async function adoptCandidate(
  engine: MergeEngine,
  candidate: CommitId,
  onto: CommitId,
): Promise<void> {
  if (candidate === onto) return;
  const { objects, quarantine } = engine;
  const fresh: CommitId[] = [];
  for (let id: CommitId | undefined = candidate; id !== undefined && id !== onto && quarantine.has(id);) {
    fresh.push(id);
    id = (await objects.commit(id)).parents[0];
  }
  const ids: string[] = [];
  for (const id of fresh.toReversed()) {
    const { tree, parents } = await objects.commit(id);
    const before = parents[0] === undefined ? undefined : (await objects.commit(parents[0])).tree;
    await collect(engine, before, tree, ids);
    ids.push(id);
  }
  await quarantine.adopt(candidate, { onto, ids }, (lacking) => objects.reader.readAll(lacking));
}

/** Unchanged entries are in the repository, and so is everything below a folder that is not in quarantine. */
async function collect(
  engine: MergeEngine,
  before: string | undefined,
  tree: string,
  ids: string[],
): Promise<void> {
  const { objects, quarantine } = engine;
  if (before === tree || !quarantine.has(tree)) return;
  const [old, now] = await Promise.all([
    before === undefined ? Buffer.alloc(0) : objects.tree(before),
    objects.tree(tree),
  ]);
  for (const pair of pairs(old, now, idBytesOf(objects))) {
    if (pair.now === undefined) continue;
    const { mode, id } = pair.now;
    if (mode === '40000') await collect(engine, pair.old?.id, id, ids);
    else if (mode !== '160000' && quarantine.has(id)) ids.push(id);
  }
  ids.push(tree);
}
