/**
 * What an entry of the pool is, and how Copse knows that it is unchanged.
 *
 *   <worktrees>/.pool/<n>            its files
 *   <git dir>/worktrees/copse-pool-<n>   its registration: locked, HEAD at a commit
 *   .copse/pool/<n>.json             its seal; without one it is not an entry
 *
 * An entry is sealed when git has read every file in it and found the commit's content. The seal holds the change times and
 * inode numbers of its folders and of its index. A change time cannot be set, so every later change breaks the seal, and
 * the entry is not handed out. How a change to a file shows depends on how many there are:
 *
 *   few files    their times and numbers are in the seal as well
 *   many files   git compares them with those in the index, which it does in several threads, but by the second only. So
 *                they are read after the second of the last change is over, and the index is dated after that: a later
 *                change has another second, and git need not read unchanged files again
 *
 * Dating the index this way also means that advancing an entry reads only the files that differ.
 */

import {
  type BigIntStats,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { CommitId } from '../../../kernel/ids.ts';
import type { Git, RegisteredWorktree } from '../../../git/port.ts';
import type { Leftover, PoolEntry, PoolStep } from '../../ports/pool.ts';
import { readIfThere } from '../../../kernel/system/read-if-there.ts';
import { git, tryGit, type TrustedDir } from '../../../git/process.ts';
import { registrationOf } from '../../../git/worktrees/registrations.ts';
import { headOf } from '../../../git/worktrees/place.ts';

export interface PoolPlace {
  readonly dir: TrustedDir;
  /** The folder of the entries, beside the worktrees: they are moved by renaming. */
  readonly folder: string;
  readonly withLock: Git['withLock'];
  readonly tryLock: Git['tryLock'];
  /** Moves a surplus or broken entry to the trash. */
  readonly discard: (leftover: Leftover) => Promise<void>;
  readonly onStep: (step: PoolStep) => void;
}

type Stamps = readonly (readonly [name: string, stamp: string])[];

interface Seal {
  readonly commit: CommitId;
  readonly index: string;
  /** The worktree itself is ''. Names are bytes, one character each. */
  readonly folders: Stamps;
  /** Null for many files: git compares them with the index. */
  readonly files: Stamps | null;
}

const PREFIX = 'copse-pool-';

export const entryPath = ({ folder }: PoolPlace, number: number): string => path.join(folder, `${number}`);
export const entryName = (number: number): string => `${PREFIX}${number}`;
export const entryGitDir = ({ dir }: PoolPlace, number: number): string =>
  path.join(dir.commonDir, 'worktrees', entryName(number));
/** The lock that every operation on an entry holds. */
export const entryLock = (number: number): string => `pool-${number}`;

const sealFolder = ({ dir }: PoolPlace): string => path.join(dir.home, '.copse', 'pool');
const sealFile = (pool: PoolPlace, number: number): string => path.join(sealFolder(pool), `${number}.json`);

export function sealedEntries(pool: PoolPlace): readonly PoolEntry[] {
  return numbersIn(sealFolder(pool), /^(\d+)\.json$/).flatMap((number) => {
    const seal = readSeal(pool, number);
    return seal ? [{ number, path: entryPath(pool, number), commit: seal.commit }] : [];
  });
}

/** Every number of which anything exists, sealed or not. */
export function allNumbers(pool: PoolPlace): readonly number[] {
  const found = [
    ...numbersIn(sealFolder(pool), /^(\d+)\.json$/),
    ...numbersIn(pool.folder, /^(\d+)$/),
    ...numbersIn(path.join(pool.dir.commonDir, 'worktrees'), /^copse-pool-(\d+)$/),
  ];
  return [...new Set(found)].toSorted((one, other) => one - other);
}

function numbersIn(folder: string, pattern: RegExp): readonly number[] {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  const numbers = readdirSync(folder).flatMap((name) => {
    const [, digits] = pattern.exec(name) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
  return numbers.toSorted((one, other) => one - other);
}

function readSeal(pool: PoolPlace, number: number): Seal | undefined {
  const text = readIfThere(sealFile(pool, number));
  if (text === undefined) return undefined;
  try {
    const seal = JSON.parse(text) as Seal;
    // A seal of an earlier version has fewer fields.
    return seal.files === undefined ? undefined : seal;
  } catch {
    // Not a seal that Copse wrote.
    return undefined;
  }
}

export function breakSeal(pool: PoolPlace, number: number): void {
  rmSync(sealFile(pool, number), { force: true });
}

/** Undefined when the entry is as it was sealed; else how it differs. */
export async function whatIsWrong(pool: PoolPlace, number: number): Promise<string | undefined> {
  const seal = readSeal(pool, number);
  if (seal === undefined) return 'it was never finished';
  if (!isFolder(entryPath(pool, number))) return 'it is not a folder';
  // Git compares the files while this process compares the folders.
  const changed = seal.files === null && hasChangedFile(pool, number);
  const wrong = whatIsWrongAround(pool, number, seal);
  return (await changed) ? (wrong ?? CHANGED) : wrong;
}

const CHANGED = 'a file in it was changed';

async function hasChangedFile(pool: PoolPlace, number: number): Promise<boolean> {
  const argv = ['diff-files', '--quiet', '--ignore-submodules=all'];
  return (await tryGit(pool.dir, argv, filesOf(pool, number))).code !== 0;
}

function filesOf(pool: PoolPlace, number: number): { readonly workTree: string; readonly index: string } {
  return { workTree: entryPath(pool, number), index: path.join(entryGitDir(pool, number), 'index') };
}

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Everything but the content of many files. */
function whatIsWrongAround(pool: PoolPlace, number: number, seal: Seal): string | undefined {
  const worktree = entryPath(pool, number);
  const gitDir = entryGitDir(pool, number);
  const registration = registrationOf(pool.dir.commonDir, worktree);
  if (registration.kind === 'broken') return registration.why;
  if (registration.registration.gitDir !== gitDir) return 'its .git file names another registration';
  if (headOf(gitDir).commit !== seal.commit) return 'its HEAD was moved';
  if (stamp(path.join(gitDir, 'index')) !== seal.index) return 'its index was written';
  const isTouched = ([name, sealed]: Stamps[number]) => stamp(inside(worktree, name)) !== sealed;
  const touched = seal.folders.find(isTouched);
  if (touched) return `something was added or removed in its folder ${JSON.stringify(touched[0] || '.')}`;
  return seal.files?.some(isTouched) ? CHANGED : undefined;
}

/** A change in the same tick of the file system's clock as the one before it would not show. */
const SETTLE_MS = 30;

/** Looks at everything, then seals. Undefined on success; else the reason for no seal. */
export async function seal(pool: PoolPlace, number: number, commit: CommitId): Promise<string | undefined> {
  const options = filesOf(pool, number);
  const { workTree, index } = options;
  await setTimeout(SETTLE_MS);
  utimesSync(index, LONG_AGO, LONG_AGO);
  const before = stamp(index);
  const listed = await git(pool.dir, ['ls-files', '--stage', '-z'], options);
  const walked = walk(workTree, listed.toString('latin1'));
  if ('extra' in walked) return `it has ${JSON.stringify(walked.extra)}, which is not the commit's`;
  const { folders, files, newestMs } = walked;
  const isMany = files.length >= MANY_FILES;
  const second = isMany ? await secondAfter(pool, newestMs) : LONG_AGO;
  if (second === undefined) return 'it has a file with a time in the future';
  const isChanged = await hasChangedFile(pool, number);
  const staged = await tryGit(pool.dir, ['diff-index', '--cached', '--quiet', commit], options);
  if (isChanged || staged.code !== 0) return `its files are not those of ${commit}`;
  if (stamp(index) !== before) return 'its index was written';
  if (isMany) utimesSync(index, second, second);
  writeSeal(pool, number, { commit, index: stamp(index) ?? '', folders, files: isMany ? null : files });
  pool.onStep('sealed');
  return undefined;
}

/** From so many files on, git compares them faster than this process does one by one. */
export const MANY_FILES = 1_000;
/** Git reads every file that is not older than its index. Zero would mean that it has no date. */
const LONG_AGO = 1;

function writeSeal(pool: PoolPlace, number: number, seal: Seal): void {
  mkdirSync(sealFolder(pool), { recursive: true, mode: 0o700 });
  writeAtomically(sealFile(pool, number), JSON.stringify(seal));
}

/** Longer than a second; a file dated years ahead must not make it wait for ever. */
const SECOND_PATIENCE_MS = 3_000;
const SECOND_STEP_MS = 50;

/** Waits until the file system's clock is past the second of `timeMs` and returns the new second, or undefined after a timeout. */
async function secondAfter({ folder }: PoolPlace, timeMs: number): Promise<number | undefined> {
  const probe = path.join(folder, `time-${process.pid}`);
  try {
    for (let waitedMs = 0; waitedMs < SECOND_PATIENCE_MS; waitedMs += SECOND_STEP_MS) {
      writeFileSync(probe, '.', { mode: 0o600 });
      const second = Math.floor(statSync(probe).mtimeMs / 1_000);
      if (second > Math.floor(timeMs / 1_000)) return second;
      await setTimeout(SECOND_STEP_MS);
    }
    return undefined;
  } finally {
    rmSync(probe, { force: true });
  }
}

interface Walked {
  readonly folders: Stamps;
  readonly files: Stamps;
  /** The last change to any file. */
  readonly newestMs: number;
}

/**
 * `git ls-files --others` would not do: it passes over everything called `.git`, and over the folders of submodules.
 */
function walk(worktree: string, listed: string): Walked | { readonly extra: string } {
  const files = new Set<string>();
  const parents = new Set(['']);
  for (const entry of listed.split('\0')) {
    if (entry === '') continue;
    const file = entry.slice(entry.indexOf('\t') + 1);
    (entry.startsWith('160000') ? parents : files).add(file);
    for (let slash = file.lastIndexOf('/'); slash > 0; slash = file.lastIndexOf('/', slash - 1)) {
      parents.add(file.slice(0, slash));
    }
  }
  const folders: (readonly [string, string])[] = [];
  for (const folder of parents) {
    const at = inside(worktree, folder);
    folders.push([folder, stamp(at) ?? '']);
    for (const one of readdirSync(at, { encoding: 'latin1', withFileTypes: true })) {
      const name = folder === '' ? one.name : `${folder}/${one.name}`;
      const isExpected = one.isDirectory() ? parents.has(name) : files.has(name) || name === '.git';
      if (!isExpected) return { extra: name };
    }
  }
  return { folders, ...lookAtFiles(worktree, files) };
}

function lookAtFiles(worktree: string, names: ReadonlySet<string>): Pick<Walked, 'files' | 'newestMs'> {
  const files: (readonly [string, string])[] = [];
  let newestMs = 0;
  for (const name of names) {
    const found = lstatSync(inside(worktree, name), { bigint: true, throwIfNoEntry: false });
    files.push([name, found ? stampOf(found) : '']);
    if (found) newestMs = Math.max(newestMs, Number(found.ctimeMs), Number(found.mtimeMs));
  }
  return { files, newestMs };
}

/** A name in git's bytes, below a folder in the system's. */
export function inside(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(name === '' ? folder : `${folder}/`), Buffer.from(name, 'latin1')]);
}

function stamp(file: string | Buffer): string | undefined {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return found && stampOf(found);
}

function stampOf({ ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** Writes only the files that differ. Throws rather than overwrite content that is not the old commit's. */
export async function bringForward(
  dir: TrustedDir,
  { path: workTree, gitDir, tip }: RegisteredWorktree,
  from: CommitId,
): Promise<void> {
  const index = path.join(gitDir, 'index');
  await git(dir, ['read-tree', '-u', '-m', from, tip], { workTree, index });
}
