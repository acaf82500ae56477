/**
 * Where merges are made: the object store, or a throwaway one in front of it that is gone afterwards.
 *
 * How a file is merged may be said in `.gitattributes` (`merge=union`, `-merge`). What the target says counts, not what the
 * branch says, and drivers are only those built into git, because Copse's git directory knows no others. Git reads
 * attributes from files, so where the target has some that matter, they are put into a folder for the time of the merge.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type CommitId, timestamp } from '../../domain/ids.ts';
import { Merger, ObjectReader } from './long-lived.ts';
import { type NewCommit, type Written, copseAt, encodeCommit, writeCommit } from './merging-commit.ts';
import { entries } from './private-index.ts';
import { GitFailed, type GitOptions, tryGit } from './process.ts';
import { utf8 } from './snapshot-files.ts';
import { withScratch } from './snapshot-place.ts';
import type { TrustedDir } from './trusted-dir.ts';

/** Gits that stay for as long as somebody merges. */
export class Standing {
  readonly reader: ObjectReader;
  readonly merger: Merger;

  constructor(dir: TrustedDir) {
    this.reader = new ObjectReader(dir);
    this.merger = new Merger(dir);
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.merger.close()]);
  }
}

export type MergedTree =
  | { readonly clean: true; readonly tree: string }
  /** Paths have one character per byte; the tree has conflict markers in it. */
  | { readonly clean: false; readonly tree: string; readonly files: readonly string[] };

export interface Bench {
  readonly dir: TrustedDir;
  readonly reader: ObjectReader;
  /** Undefined when they have no commit in common, unless that is allowed. */
  merge(ours: CommitId, theirs: CommitId, options?: MergeOptions): Promise<MergedTree | undefined>;
  write(commit: NewCommit): CommitId;
  /** A commit that is only needed for a merge. */
  stand(tree: string, parents: readonly CommitId[]): CommitId;
}

interface MergeOptions {
  readonly allowsUnrelated?: boolean;
}

export interface BenchRequest {
  /** Whose attributes count. */
  readonly onto: CommitId;
  /** What is going to be merged; one character per byte. */
  readonly paths: Iterable<string>;
  readonly isThrowaway?: boolean;
}

export function withBench<T>(
  dir: TrustedDir,
  { reader, merger }: Standing,
  { onto, paths, isThrowaway = false }: BenchRequest,
  work: (bench: Bench) => Promise<T>,
): Promise<T> {
  return withScratch(dir, async (scratch) => {
    const store = path.join(dir.commonDir, 'objects');
    const objects = isThrowaway ? path.join(scratch, 'objects') : store;
    mkdirSync(objects, { recursive: true });
    const workTree = await layAttributes(reader, onto, paths, path.join(scratch, 'attributes'));
    const options: GitOptions = {
      ...(isThrowaway && {
        env: { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(store) },
      }),
      ...(workTree !== undefined && { workTree }),
    };
    const isPlain = isThrowaway || workTree !== undefined;
    const written: Written[] = [];
    const result = await work({
      dir,
      reader,
      write(commit) {
        const made = writeCommit(dir, objects, encodeCommit(commit));
        written.push(made);
        return made.id;
      },
      stand: (tree, parents) => writeCommit(dir, objects, encodeCommit(standFor(tree, parents))).id,
      async merge(ours, theirs, { allowsUnrelated = false } = {}) {
        const quick = isPlain || allowsUnrelated ? undefined : await mergeQuickly(merger, ours, theirs);
        // The process that stays does not list what is in conflict by file.
        if (quick === 'unrelated') return undefined;
        return quick ?? mergePlainly(dir, ours, theirs, { ...options, allowsUnrelated });
      },
    });
    // All at the end: one after another, each would wait for the disk.
    if (!isThrowaway) for (const { settle } of written) settle();
    return result;
  });
}

function standFor(tree: string, parents: readonly CommitId[]): NewCommit {
  const at = timestamp(0);
  const message = 'copse: stands in for a merge\n';
  return { tree, parents, author: copseAt(at), encoding: undefined, message, at };
}

async function mergeQuickly(
  merger: Merger,
  ours: CommitId,
  theirs: CommitId,
): Promise<MergedTree | 'unrelated' | undefined> {
  try {
    const merged = await merger.merge(ours, theirs);
    return merged.clean ? merged : undefined;
  } catch (error) {
    if (error instanceof GitFailed && UNRELATED.test(error.stderr)) return 'unrelated';
    throw error;
  }
}

const UNRELATED = /unrelated histories/;

async function mergePlainly(
  dir: TrustedDir,
  ours: CommitId,
  theirs: CommitId,
  { allowsUnrelated, ...options }: GitOptions & MergeOptions,
): Promise<MergedTree | undefined> {
  const allowed = allowsUnrelated ? ['--allow-unrelated-histories'] : [];
  const format = ['--write-tree', '-z', '--name-only', '--no-messages'];
  const argv = ['merge-tree', ...format, ...allowed, ours, theirs];
  const { code, stdout, stderr } = await tryGit(dir, argv, options);
  if (code > 1 && UNRELATED.test(stderr)) return undefined;
  const [tree, ...files] = entries(stdout);
  // A revision that does not exist ends it with 1 as well, but without a tree.
  if (code > 1 || tree === undefined) throw new GitFailed(argv, code, stderr);
  if (code === 0) return { clean: true, tree };
  if (files.length === 0) throw new Error('git merge-tree found a conflict and no path with one');
  return { clean: false, tree, files: [...new Set(files)] };
}

/** What else attributes can say has no say in a merge. */
const MATTERS = /merge|binary/;
const MOST_BYTES = 1024 ** 2;

/** The folder with the attributes, or undefined when there are none that matter. */
async function layAttributes(
  reader: ObjectReader,
  onto: CommitId,
  paths: Iterable<string>,
  folder: string,
): Promise<string | undefined> {
  const places = [...foldersOf(paths)].map((parent) => `${parent}.gitattributes`);
  const facts = await reader.check(places.map((place) => `${onto}:${place}`));
  const found: [string, Buffer][] = [];
  for (const [at, place] of places.entries()) {
    const fact = facts[at];
    if (fact?.type !== 'blob' || fact.size > MOST_BYTES) continue;
    const { content = Buffer.alloc(0) } = (await reader.read(fact.id)) ?? {};
    found.push([place, content]);
  }
  if (!found.some(([, content]) => MATTERS.test(content.toString('latin1')))) return undefined;
  for (const [place, content] of found) {
    mkdirSync(path.dirname(path.join(folder, place)), { recursive: true });
    writeFileSync(path.join(folder, place), content);
  }
  return folder;
}

/** Each ends in a slash; the top is empty. A tree can be made to hold names that lead elsewhere. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const name of paths) {
    const parts = utf8(name).split('/').slice(0, -1);
    if (parts.some((part) => /^\.{0,2}$|^\.git$|[\n\0]|\uFFFD/i.test(part))) continue;
    for (const [depth] of parts.entries()) folders.add(`${parts.slice(0, depth + 1).join('/')}/`);
  }
  return folders;
}

/** In a list of folders, a colon would end one. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
