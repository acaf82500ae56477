/**
 * What an entry of the pool is, and how Copse knows that nobody touched it.
 *
 *   <worktrees>/.pool/<n>            its files
 *   <git dir>/worktrees/copse-pool-<n>   its registration: locked, HEAD at a commit
 *   .copse/pool/<n>.json             its seal; without one it is no entry, whatever else is there
 *
 * An entry is sealed when every file in it was seen to be the commit's. The seal holds the times and numbers of its
 * folders and of its index, and the index those of its files. Nobody can set a change time, so whoever adds, removes or
 * changes anything afterwards breaks the seal, and the entry is not handed out.
 */

import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { CommitId } from '../../domain/ids.ts';
import type { Git, Place } from '../../ports/git.ts';
import type { Leftover, PoolEntry, PoolStep } from '../../ports/pool.ts';
import { git, tryGit } from './process.ts';
import { readIfThere, registrationOf } from './registrations.ts';
import type { TrustedDir } from './trusted-dir.ts';
import { headOf } from './worktrees.ts';

export interface PoolPlace {
  readonly dir: TrustedDir;
  /** The folder of the entries, beside the worktrees: they are moved by renaming. */
  readonly folder: string;
  readonly withLock: Git['withLock'];
  readonly tryLock: Git['tryLock'];
  /** Moves what is not wanted to the trash. */
  readonly discard: (leftover: Leftover) => Promise<void>;
  readonly onStep: (step: PoolStep) => void;
}

interface Seal {
  readonly commit: CommitId;
  readonly index: string;
  /** Folder and stamp, the worktree itself as ''. Names are bytes, one character each. */
  readonly folders: readonly (readonly [string, string])[];
}

const PREFIX = 'copse-pool-';

export const entryPath = ({ folder }: PoolPlace, number: number): string => path.join(folder, `${number}`);
export const entryName = (number: number): string => `${PREFIX}${number}`;
export const entryGitDir = ({ dir }: PoolPlace, number: number): string =>
  path.join(dir.commonDir, 'worktrees', entryName(number));
/** Whoever does anything with an entry holds it. */
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
    return JSON.parse(text) as Seal;
  } catch {
    // Whatever this is, Copse did not write it.
    return undefined;
  }
}

export function breakSeal(pool: PoolPlace, number: number): void {
  rmSync(sealFile(pool, number), { force: true });
}

/** Undefined when the entry is as it was sealed; else what is wrong with it. */
export async function whatIsWrong(pool: PoolPlace, number: number): Promise<string | undefined> {
  const seal = readSeal(pool, number);
  if (seal === undefined) return 'it was never finished';
  const worktree = entryPath(pool, number);
  const gitDir = entryGitDir(pool, number);
  const registration = registrationOf(pool.dir.commonDir, worktree);
  if ('why' in registration) return registration.why;
  if (registration.found.gitDir !== gitDir) return 'its .git file names another registration';
  if (headOf(gitDir).commit !== seal.commit) return 'its HEAD was moved';
  if (stamp(path.join(gitDir, 'index')) !== seal.index) return 'its index was written';
  const touched = seal.folders.find(([folder, sealed]) => stamp(inside(worktree, folder)) !== sealed);
  if (touched) return `something was added or removed in its folder ${JSON.stringify(touched[0] || '.')}`;
  const index = path.join(gitDir, 'index');
  const argv = ['diff-files', '--quiet', '--ignore-submodules=all'];
  const { code } = await tryGit(pool.dir, argv, { workTree: worktree, index });
  return code === 0 ? undefined : 'a file in it was changed';
}

/** A change in the same tick of the file system's clock as the one before it would not show. */
const SETTLE_MS = 30;

/** Looks at everything, then seals. Undefined when it did; else what is in the way. */
export async function seal(pool: PoolPlace, number: number, commit: CommitId): Promise<string | undefined> {
  const workTree = entryPath(pool, number);
  const index = path.join(entryGitDir(pool, number), 'index');
  await setTimeout(SETTLE_MS);
  const indexStamp = stamp(index) ?? '';
  const listed = await git(pool.dir, ['ls-files', '--stage', '-z'], { workTree, index });
  const walked = walk(workTree, listed.toString('latin1'));
  if ('extra' in walked) return `it has ${JSON.stringify(walked.extra)}, which is not the commit's`;
  const options = { workTree, index };
  const files = await tryGit(pool.dir, ['diff-files', '--quiet', '--ignore-submodules=all'], options);
  const staged = await tryGit(pool.dir, ['diff-index', '--cached', '--quiet', commit], options);
  if (files.code !== 0 || staged.code !== 0) return `its files are not those of ${commit}`;
  const text = JSON.stringify({ commit, index: indexStamp, folders: walked.folders } satisfies Seal);
  mkdirSync(sealFolder(pool), { recursive: true, mode: 0o700 });
  const fresh = `${sealFile(pool, number)}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, sealFile(pool, number));
  pool.onStep('sealed');
  return undefined;
}

/**
 * `git ls-files --others` would not do: it passes over everything called `.git`, and over the folders of submodules.
 */
function walk(
  worktree: string,
  listed: string,
): { readonly folders: Seal['folders'] } | { readonly extra: string } {
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
  return { folders };
}

/** A name in git's bytes, below a folder in the system's. */
export function inside(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(name === '' ? folder : `${folder}/`), Buffer.from(name, 'latin1')]);
}

function stamp(file: string | Buffer): string | undefined {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.mode} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** Writes the files that differ and no others. Refuses, by an exception, to write over what is not the old commit's. */
export async function bringForward(
  dir: TrustedDir,
  { path: workTree, gitDir, tip }: Place,
  from: CommitId,
): Promise<void> {
  const index = path.join(gitDir, 'index');
  await git(dir, ['read-tree', '-u', '-m', from, tip], { workTree, index });
}
