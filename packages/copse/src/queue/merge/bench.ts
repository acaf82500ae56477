/**
 * Where merges are made: gits that stay, and a throwaway object store (quarantine.ts) that only what is kept leaves.
 *
 * How a file is merged may be said in `.gitattributes`; merging-attributes.ts says whose count. For each set of them that
 * matters there is a git of its own, because git reads such files once.
 */

import { type CommitId, brand, timestamp } from '../../kernel/ids.ts';
import { type Merged, Merger, parseMerged } from '../../git/long-lived.ts';
import { type Attributes, layAttributes } from './attributes.ts';
import { type NewCommit, copseAt, encodeCommit } from '../../git/objects/commit-object.ts';
import { mergeFile } from './file.ts';
import { type FileVersions, type Splice, splice } from './splice.ts';
import { ObjectReader } from '../../git/objects/object-reader.ts';
import { Objects } from '../../git/objects/objects.ts';
import { GitFailed, type GitOptions, tryGit } from '../../git/process.ts';
import { Quarantine } from '../../git/objects/quarantine.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import type { TrustedDir } from '../../git/directory/trusted-dir.ts';

/** After so many merges it is looked how much they left. */
const LOOK_EVERY = 256;
const MOST_MERGES = 8_192;
const MOST_BYTES = 64 * 1024 ** 2;
const MOST_MERGERS = 4;
const MOST_MERGED_FILES = 1_000;
const MOST_TREES = 20_000;
/** Gits look through one after another. */
const MOST_PACKS = 128;
/** Of candidates that nobody asked for yet. */
const MOST_HELD_BYTES = 64 * 1024 ** 2;

/** What stays for as long as somebody merges. */
export class Standing {
  readonly dir: TrustedDir;
  readonly quarantine: Quarantine;
  readonly objects: Objects;
  /** What git made of three versions of a file, for as long as that is here. */
  readonly mergedFiles = new RecentCache<string, Promise<string | undefined>>(MOST_MERGED_FILES);
  readonly asWritten = new RecentCache<string, true>(MOST_TREES);
  readonly #mergers = new Map<string, Merger>();
  #users = 0;
  #merges = 0;
  #merging = 0;

  constructor(dir: TrustedDir) {
    this.dir = dir;
    this.quarantine = new Quarantine(dir);
    const reader = new ObjectReader(dir, { env: this.quarantine.readingEnv });
    const { objects, store } = this.quarantine;
    this.objects = new Objects(dir, reader, { folders: [objects, store], quarantine: this.quarantine });
  }

  /** What is written in the meantime is there until the end of it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      // Before anything is read: git would not believe in a folder that is not there yet.
      if (await this.quarantine.open()) await this.#startAnew();
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#users === 0) await this.#clearUp();
    }
  }

  merger(attributes: Attributes | undefined): Merger {
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

  /** For a git that sees what was made here. */
  plainOptions(attributes: Attributes | undefined): Pick<GitOptions, 'env' | 'workTree'> {
    const env = { ...this.quarantine.env, ...NOT_TO_DISK };
    return attributes === undefined ? { env } : { env, workTree: attributes.folder };
  }

  async close(): Promise<void> {
    await Promise.all([this.objects.reader.close(), this.#closeMergers()]);
    this.quarantine.close();
  }

  /** Nothing that gits made is there any more. */
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

/** Nothing here has to survive: what goes into the repository is brought to the disk when it goes there. */
const NOT_TO_DISK = { GIT_CONFIG_COUNT: '2', GIT_CONFIG_KEY_1: 'core.fsync', GIT_CONFIG_VALUE_1: 'none' };

export interface Bench {
  readonly objects: Objects;
  /** Undefined when they have no commit in common, unless that is allowed. Paths have one character per byte. */
  merge(ours: CommitId, theirs: CommitId, options?: MergeOptions): Promise<Merged | undefined>;
  /** The same for trees, without git; undefined when git has to say. */
  splice(trees: Splice): Promise<string | undefined>;
  /** Not kept yet. */
  write(commit: NewCommit): CommitId;
  /** A commit that is only needed for a merge. */
  stand(tree: string, parents: readonly CommitId[]): CommitId;
}

interface MergeOptions {
  readonly allowsUnrelated?: boolean;
}

export interface BenchRequest {
  /** The tree whose attributes count. */
  readonly target: string;
  /** What is going to be merged; one character per byte. */
  readonly paths: Iterable<string>;
}

export async function layBench(standing: Standing, { target, paths }: BenchRequest): Promise<Bench> {
  const { objects, quarantine } = standing;
  const attributes = await layAttributes(objects, quarantine.folder, target, paths);
  const stand = (tree: string, parents: readonly CommitId[]): CommitId =>
    brand(quarantine.write('commit', encodeCommit(standFor(tree, parents))));
  const merge = (ours: CommitId, theirs: CommitId): Promise<Merged> =>
    standing.merger(attributes).merge(ours, theirs);
  const mergeVersions = (versions: FileVersions): Promise<string | undefined> => {
    // Where it is matters only to attributes.
    const file = attributes === undefined ? { ...versions, path: 'file' } : versions;
    const key = JSON.stringify([attributes?.key, file]);
    const known = standing.mergedFiles.get(key) ?? mergeFile({ objects, quarantine, stand, merge }, file);
    standing.mergedFiles.set(key, known);
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
    stand,
    splice: (trees) =>
      splice({ objects, quarantine, asWritten: standing.asWritten, mergeFile: mergeVersions }, trees),
    async merge(ours, theirs, { allowsUnrelated = false } = {}) {
      quarantine.flush();
      if (allowsUnrelated)
        return mergeUnrelated(standing.dir, ours, theirs, standing.plainOptions(attributes));
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

function standFor(tree: string, parents: readonly CommitId[]): NewCommit {
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
