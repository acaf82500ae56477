/**
 * The files of a worktree as a tree, byte for byte, without touching its index.
 *
 * Git works on a private copy of the index, whose stat information saves reading unchanged files. Changes that an index
 * can hide are found: edits behind assume-unchanged and skip-worktree bits, and files changed within the second in which
 * the index was written, for which the copy keeps the index's time. An index that git cannot use is replaced by one made
 * from HEAD, which means reading every file.
 */

import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { listed } from '../../../kernel/text.ts';
import { latin1, nul, entries, unreadableIn, utf8, parseRaw } from '../../../git/output.ts';
import { cachedTree } from './cached-tree.ts';
import { objectsOf } from '../../../git/objects.ts';
import { copyWithTime, readIndex, requireAddable } from '../../../git/private-index.ts';
import { GitFailed, type GitOptions, git, gitLine, tryGit, type TrustedDir } from '../../../git/process.ts';
import { RepositoryUnavailable } from '../../../git/unavailable.ts';
import type { Place } from '../../../git/worktrees/place.ts';

interface Staged {
  /** The index as a tree, without the paths that are in conflict. */
  readonly tree: string;
  /** Lines of `ls-files --stage` for the paths in conflict. */
  readonly unmerged: readonly string[];
  /** Paths of `git add --intent-to-add`. */
  readonly intended: readonly string[];
}

export interface Files {
  readonly tree: string;
  /** A private index that holds exactly that tree. */
  readonly index: string;
  /** Undefined when the index of the worktree is missing or damaged. */
  readonly staged: Staged | undefined;
  /** Nested repositories and submodules: their files belong to other repositories. */
  readonly notSaved: readonly string[];
  /** The paths that differ from HEAD; undefined when the files are as the index has them. */
  readonly changed: readonly string[] | undefined;
}

/** Which changed files are left out. Without one, none is. */
export type LeaveOut = (
  worktree: string,
  changed: { readonly edited: readonly string[]; readonly untracked: readonly string[] },
) => ReadonlySet<string>;

/** The staged changes of a worktree whose folder was deleted. */
export async function captureIndex(
  dir: TrustedDir,
  place: Place,
  scratch: string,
  head: () => Promise<string | undefined>,
): Promise<Files> {
  const index = path.join(scratch, 'index');
  const commit = await head();
  const none = { staged: undefined, notSaved: [], changed: undefined };
  if (copyIndex(place, index)) {
    const { code, stdout } = await tryGit(dir, [...ANY_NAME, 'write-tree'], { index });
    const tree = stdout.toString().trimEnd();
    const staged = { tree, unmerged: [], intended: [] };
    if (code === 0) return { ...none, tree, index, staged };
  }
  const tree = commit === undefined ? emptyTree(dir) : await gitLine(dir, ['rev-parse', `${commit}^{tree}`]);
  return { ...none, tree, index, staged: { tree, unmerged: [], intended: [] } };
}

export async function captureFiles(
  dir: TrustedDir,
  place: Place,
  scratch: string,
  head: () => Promise<string | undefined>,
  leaveOut: LeaveOut = () => new Set(),
): Promise<Files> {
  if (copyIndex(place, path.join(scratch, 'index'))) {
    try {
      return await capture(dir, place, scratch, { head, leaveOut });
    } catch (error) {
      // An intact index may hold content that is nowhere else, so the error is not ignored.
      if (isWholeIndex(dir, place) || !(error instanceof GitFailed)) throw error;
    }
  }
  const index = path.join(scratch, 'fresh');
  const commit = await head();
  await git(dir, [...ANY_NAME, 'read-tree', ...(commit === undefined ? ['--empty'] : [commit])], { index });
  const { tree, notSaved, changed } = await readFiles(dir, place, index, { head, leaveOut });
  return {
    tree: tree ?? (await gitLine(dir, ['write-tree'], { index })),
    index,
    staged: undefined,
    notSaved,
    changed,
  };
}

interface FileReading {
  readonly head: () => Promise<string | undefined>;
  readonly leaveOut: LeaveOut;
}

async function capture(dir: TrustedDir, place: Place, scratch: string, reading: FileReading): Promise<Files> {
  const index = path.join(scratch, 'index');
  await joinSplitIndex(dir, place, index);
  const stagedIndex = path.join(scratch, 'staged');
  copyWithTime(index, stagedIndex);
  const [written, files] = await Promise.all([
    writeStaged(dir, place, stagedIndex),
    readFiles(dir, place, index, reading),
  ]);
  const stagedTree = written ?? (await writeWithout(dir, place, stagedIndex, files.unmerged));
  return {
    tree: files.tree ?? stagedTree,
    index,
    staged: { tree: stagedTree, unmerged: files.unmerged, intended: files.intended },
    notSaved: files.notSaved,
    changed: files.changed,
  };
}

/** Undefined when there are paths in conflict, of which no tree can be made. */
async function writeStaged(dir: TrustedDir, { worktree }: Place, index: string): Promise<string | undefined> {
  const noted = cachedTree(readIndex(index) ?? Buffer.alloc(0), dir.objectFormat);
  const [tree] = noted === undefined ? [] : await objectsOf(dir).check([noted]);
  if (tree?.type === 'tree') return tree.id;
  const { code, stdout } = await tryGit(dir, ['write-tree'], { index, workTree: worktree, isRaw: true });
  return code === 0 ? stdout.toString().trimEnd() : undefined;
}

async function writeWithout(
  dir: TrustedDir,
  { worktree }: Place,
  index: string,
  unmerged: readonly string[],
): Promise<string> {
  const options = { index, workTree: worktree, isRaw: true };
  await git(dir, [...ANY_NAME, 'update-index', '-z', '--force-remove', '--stdin'], {
    ...options,
    input: nul([...new Set(unmerged.map((line) => line.slice(line.indexOf('\t') + 1)))]),
  });
  return gitLine(dir, ['write-tree'], options);
}

interface ReadFiles extends Pick<Files, 'notSaved' | 'changed'> {
  /** Undefined when the index already was as the files are. */
  readonly tree: string | undefined;
  readonly unmerged: readonly string[];
  readonly intended: readonly string[];
}

/** Brings a private index up to date with the files. */
async function readFiles(
  dir: TrustedDir,
  { worktree, isMain }: Place,
  index: string,
  { head, leaveOut }: FileReading,
): Promise<ReadFiles> {
  const careful = carefulSettings(index);
  const options: GitOptions = { index, workTree: worktree, isRaw: true };
  const run = (argv: readonly string[], input?: Buffer): Promise<Buffer> =>
    git(dir, [...careful, ...argv], { ...options, ...(input && { input }) });
  // Looking into submodules would start git with their configuration.
  const compare = ['diff-files', '--raw', '-z', '--no-renames', '--ignore-submodules=dirty'];
  /** Git passes over what it cannot read, and succeeds. */
  const readAll = async (argv: readonly string[]): Promise<Buffer> => {
    const { code, stdout, stderr } = await tryGit(dir, [...careful, ...argv], options);
    if (code !== 0) throw new GitFailed(argv, code, stderr);
    const unreadable = unreadableIn(stderr);
    if (unreadable.length > 0) throw cannotRead(worktree, unreadable);
    return stdout;
  };
  const [listing, comparison] = await Promise.all([
    readAll(['ls-files', '-z', '--stage', '-v', '--others', '--exclude-standard']),
    readAll(compare),
  ]);
  const listed = parseListing(listing);
  let differing = parseRaw(comparison);
  if (listed.assumed.length > 0) {
    await run(['update-index', '-z', '--no-assume-unchanged', '--stdin'], nul(listed.assumed));
    differing = parseRaw(await run(compare));
  }
  if (differing.length > MANY) {
    // Many files were touched, which need not mean changed: comparing is cheaper than writing. Ends with 1 if any differ.
    await tryGit(dir, [...careful, 'update-index', '-q', '--refresh'], options);
    differing = parseRaw(await run(compare));
  }
  const deleted = differing.filter(({ status }) => status === 'D').map(({ file }) => file);
  const edited = differing.filter(({ status }) => status !== 'D').map(({ file }) => file);
  // Copse's own folder beside the main checkout, in case the line that ignores it was removed.
  const untracked = listed.untracked.filter((file) => !isMain || !file.startsWith('.copse/'));
  const left = leaveOut(worktree, { edited, untracked });
  const wanted = [...new Set([...edited, ...untracked])].filter((file) => !left.has(file));
  const { files: added, special } = requireAddable(worktree, wanted);
  const gone = [...deleted, ...special];
  // Forced: git refuses to look at a path below a link that replaced its folder.
  if (gone.length > 0) await run(['update-index', '-z', '--force-remove', '--stdin'], nul(gone));
  if (added.length > 0) await addFiles(dir, careful, added, options);
  const nested = listed.nested.map((name) => name.slice(0, -1));
  const submodules = listed.gitlinks.filter((name) =>
    existsSync(Buffer.from(`${latin1(worktree)}/${name}/.git`, 'latin1')),
  );
  const changedPaths = async (): Promise<readonly string[]> => {
    const against = (await head()) ?? emptyTree(dir);
    return entries(await run(['diff-index', '--cached', '-z', '--name-only', '--no-renames', against]));
  };
  const [tree, changed] =
    gone.length + added.length === 0 ? [] : await Promise.all([run(['write-tree']), changedPaths()]);
  return {
    tree: tree?.toString().trimEnd(),
    changed,
    unmerged: listed.unmerged,
    intended: differing.filter(({ status }) => status === 'A').map(({ file }) => file),
    notSaved: [...nested, ...submodules].map(utf8).toSorted(),
  };
}

function cannotRead(worktree: string, unreadable: readonly string[]): RepositoryUnavailable {
  return new RepositoryUnavailable(
    `The files of ${worktree} cannot be saved, so they stay where they are. Git cannot read:\n${listed(unreadable)}`,
    `Make them readable, shorten their paths or delete them in ${worktree}, then run this again.`,
  );
}

/** From so many new objects on, one pack is written: loose objects would be synced to the disk one by one. */
const MANY = 100;

async function addFiles(
  dir: TrustedDir,
  careful: readonly string[],
  files: readonly string[],
  options: GitOptions,
): Promise<void> {
  const together = files.length > MANY ? ['-c', 'core.bigFileThreshold=1'] : [];
  const argv = [...careful, ...together, 'update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
  const { code, stderr } = await tryGit(dir, argv, { ...options, input: nul(files) });
  // Git skips names that no tree may hold, `.GIT` for example, and only prints a remark.
  if (code !== 0 || /^Ignoring path /m.test(stderr)) throw new GitFailed(argv, code, stderr);
}

/** Without these, git skips names that another system would read differently, and only prints a remark. */
export const ANY_NAME = ['-c', 'core.protectNTFS=false', '-c', 'core.protectHFS=false'] as const;

/** Overrides settings that would hide changes. */
function carefulSettings(index: string): readonly string[] {
  const settings = [
    // With it, git itself drops skip-worktree from files that are there after all.
    'core.sparseCheckout=true',
    // A file system without modes shows every file as executable, this index too.
    ...(hasModes(index) ? ['core.fileMode=true', 'core.symlinks=true'] : []),
  ];
  return [...ANY_NAME, ...settings.flatMap((setting) => ['-c', setting])];
}

function hasModes(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    return (fstatSync(descriptor).mode & 0o111) === 0;
  } finally {
    closeSync(descriptor);
  }
}

interface Listing {
  readonly untracked: readonly string[];
  readonly nested: readonly string[];
  readonly assumed: readonly string[];
  readonly unmerged: readonly string[];
  readonly gitlinks: readonly string[];
}

/** `<tag> <mode> <id> <stage>\t<path>` for tracked files, `? <path>` for others; a small tag is assume-unchanged. */
function parseListing(output: Buffer): Listing {
  const untracked: string[] = [];
  const nested: string[] = [];
  const assumed: string[] = [];
  const unmerged: string[] = [];
  const gitlinks: string[] = [];
  for (const line of output.toString('latin1').split('\0')) {
    if (line === '') continue;
    const tag = line.charAt(0);
    if (tag === '?') {
      (line.endsWith('/') ? nested : untracked).push(line.slice(2));
      continue;
    }
    if (tag === 'H' && !line.startsWith('160000', 2)) continue;
    const file = line.slice(line.indexOf('\t') + 1);
    if (tag !== tag.toUpperCase()) assumed.push(file);
    if (tag.toUpperCase() === 'M') unmerged.push(line.slice(2));
    if (line.startsWith('160000', 2)) gitlinks.push(file);
  }
  return { untracked, nested, assumed, unmerged, gitlinks };
}

/** False when there is none. */
function copyIndex({ gitDir }: Place, to: string): boolean {
  const from = path.join(gitDir, 'index');
  // A pipe or a link holds nothing that was staged.
  if (lstatSync(from, { throwIfNoEntry: false })?.isFile() !== true) return false;
  copyWithTime(from, to);
  return true;
}

/** Git itself reads an index without looking at the checksum at its end, which may also be left out as zeros. */
function isWholeIndex({ objectFormat }: TrustedDir, { gitDir }: Place): boolean {
  const index = readIndex(path.join(gitDir, 'index')) ?? Buffer.alloc(0);
  const end = index.length - (objectFormat === 'sha256' ? 32 : 20);
  if (end <= 0) return false;
  const checksum = index.subarray(end);
  const digest = createHash(objectFormat).update(index.subarray(0, end)).digest();
  return checksum.equals(digest) || checksum.every((byte) => byte === 0);
}

/** Most of a split index is in a second file, which git looks for in its git directory. */
async function joinSplitIndex(dir: TrustedDir, { gitDir, worktree }: Place, index: string): Promise<void> {
  const shared = readdirSync(gitDir).filter((name) => name.startsWith('sharedindex.'));
  if (shared.length === 0) return;
  const own = `${index}.git`;
  mkdirSync(own);
  for (const name of readdirSync(dir.raw)) {
    // A HEAD that is a link would be read as one to a branch.
    if (name === 'HEAD') copyFileSync(path.join(dir.raw, name), path.join(own, name));
    else symlinkSync(path.join(dir.raw, name), path.join(own, name));
  }
  for (const name of shared) {
    const content = readIndex(path.join(gitDir, name));
    if (content !== undefined) writeFileSync(path.join(own, name), content);
  }
  await git(dir, ['-c', 'core.splitIndex=false', 'update-index', '--force-write-index'], {
    index,
    workTree: worktree,
    isRaw: true,
    env: { GIT_DIR: own },
  });
}

/** Known to git without being stored. */
export function emptyTree({ objectFormat }: TrustedDir): string {
  return objectFormat === 'sha256'
    ? '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
    : '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
}
