/**
 * The files of Copse's own git directory, checked before each git starts, because an agent may have written there.
 *
 * What the files must be was computed from the person's and the repository's configuration (trusted-dir.ts). It is in the
 * memory of each process, and in the stamp for the next one. A directory that differs is laid anew. Another process of Copse
 * may have made it anew meanwhile: then it is as the stamp says.
 */

import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';

/** The text of each file, by its name. */
export type OwnFiles = Readonly<Record<string, string>>;

export interface Stamp {
  readonly objectFormat: 'sha1' | 'sha256';
  /** The versions of the files that the directory was made from. */
  readonly madeFrom: string;
  readonly remembered: unknown;
  /** The accepted addresses of remotes. */
  readonly remotes: readonly (readonly [string, string])[];
  readonly plain: OwnFiles;
  readonly raw: OwnFiles;
}

interface Directories {
  readonly plain: string;
  readonly raw: string;
  readonly commonDir: string;
}

const SHARED = ['objects', 'refs', 'logs', 'packed-refs', 'lfs', 'modules', 'info/exclude'] as const;

/** Files that could redirect git. A cloned repository may contain a `.copse` folder with them. */
const FOREIGN = [
  'commondir',
  'gitdir',
  'config.worktree',
  'hooks',
  'worktrees',
  'remotes',
  'branches',
  'shallow',
  'info/grafts',
  'info/sparse-checkout',
] as const;

const known = new WeakMap<Directories, Pick<Stamp, 'plain' | 'raw'>>();

/** What the files of these directories must be from now on. */
export function expectFiles(dir: Directories, files: Pick<Stamp, 'plain' | 'raw'>): void {
  known.set(dir, files);
}

/** Lays the directory anew if it differs. */
export function keepIntact(dir: Directories): void {
  const expected = known.get(dir);
  if (expected === undefined || areIntact(dir, expected)) return;
  const stamp = readStamp(stampFile(path.dirname(dir.plain)));
  const wanted = stamp !== undefined && areIntact(dir, stamp) ? stamp : expected;
  if (wanted === expected) layAll(dir, wanted);
  expectFiles(dir, wanted);
}

export function areIntact(dir: Directories, files: Pick<Stamp, 'plain' | 'raw'>): boolean {
  return isIntact(dir.plain, dir.commonDir, files.plain) && isIntact(dir.raw, dir.commonDir, files.raw);
}

function isIntact(gitDir: string, commonDir: string, files: OwnFiles): boolean {
  return (
    Object.entries(files).every(([name, text]) => readIfPlain(path.join(gitDir, name)) === text) &&
    FOREIGN.every((name) => name in files || !isThere(path.join(gitDir, name))) &&
    SHARED.every((name) => leadsTo(path.join(gitDir, name), path.join(commonDir, name)))
  );
}

export function layAll(dir: Directories, { plain, raw }: Pick<Stamp, 'plain' | 'raw'>): void {
  lay(dir.plain, dir.commonDir, plain);
  lay(dir.raw, dir.commonDir, raw);
}

export function lay(gitDir: string, commonDir: string, files: OwnFiles): void {
  mkdirSync(path.join(gitDir, 'info'), { recursive: true, mode: 0o700 });
  for (const name of FOREIGN)
    if (!(name in files)) rmSync(path.join(gitDir, name), { recursive: true, force: true });
  mkdirSync(path.join(commonDir, 'logs'), { recursive: true });
  for (const name of SHARED) link(path.join(commonDir, name), path.join(gitDir, name));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(gitDir, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true });
    writeAtomically(file, text);
  }
}

export function stampFile(folder: string): string {
  return path.join(folder, 'stamp');
}

/** Undefined when it is missing, damaged, or of an earlier version. */
export function readStamp(file: string): Stamp | undefined {
  try {
    const stamp = JSON.parse(readIfPlain(file) ?? '') as Partial<Stamp>;
    const isWhole = Array.isArray(stamp.remotes) && isTexts(stamp.plain) && isTexts(stamp.raw);
    return isWhole ? (stamp as Stamp) : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(files: unknown): boolean {
  return (
    typeof files === 'object' &&
    files !== null &&
    Object.values(files).every((text) => typeof text === 'string')
  );
}

function link(target: string, at: string): void {
  if (leadsTo(at, target)) return;
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (found?.isDirectory()) rmSync(at, { recursive: true });
  const fresh = unused(at);
  symlinkSync(target, fresh);
  renameSync(fresh, at);
}

function leadsTo(at: string, target: string): boolean {
  const found = lstatSync(at, { throwIfNoEntry: false });
  return found?.isSymbolicLink() === true && readlinkSync(at) === target;
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Random, because threads share a process id, and containers on one disk may have the same ids. */
export function unused(file: string): string {
  return `${file}.${randomBytes(9).toString('hex')}`;
}
