/** The version of a file, as git would store its bytes, and replacing a file only while it has the expected version. */

import { createHash } from 'node:crypto';
import { type BigIntStats, constants, createReadStream } from 'node:fs';
import { copyFile, link, lstat, mkdir, readlink, realpath, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';

import { hasCode } from '../kernel/system/error-code.ts';
import type { TrustedDir } from './process.ts';

/** `<mode> <id>` as in a tree; null for an absent file, `folder` for a folder, `other` for anything but a file or link. */
export async function versionOf(dir: TrustedDir, file: string): Promise<string | null> {
  const found = await statOf(file);
  if (found === null) return null;
  if (found.isSymbolicLink()) {
    const target = await readlink(file, { encoding: 'buffer' });
    return `120000 ${startHash(dir, target.length).update(target).digest('hex')}`;
  }
  if (!found.isFile()) return found.isDirectory() ? 'folder' : 'other';
  const mode = (found.mode & 0o100n) === 0n ? '100644' : '100755';
  const hash = startHash(dir, Number(found.size));
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
  // The size is part of the id, so a file that grows meanwhile matches no version.
  for await (const chunk of createReadStream(file, { flags: flags as unknown as string }))
    hash.update(chunk as Buffer);
  return `${mode} ${hash.digest('hex')}`;
}

export async function statOf(file: string): Promise<BigIntStats | null> {
  try {
    return await lstat(file, { bigint: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

function startHash({ objectFormat }: TrustedDir, size: number) {
  return createHash(objectFormat).update(`blob ${size}\0`);
}

interface Replacement {
  readonly root: string;
  readonly file: string;
  /** The version that the file must have; null: it must be absent. */
  readonly expected: string | null;
  /** A file or link to copy, or null for none. */
  readonly content: string | null;
  /** The version that the content must have, if known. */
  readonly version?: string;
}

/**
 * Moves the present file aside and compares it there, so that a simultaneous edit is noticed and put back. The new file never
 * overwrites one that appeared meanwhile. False: nothing was changed.
 */
export async function replaceFile(dir: TrustedDir, replacement: Replacement): Promise<boolean> {
  const { root, file, expected, content, version } = replacement;
  const at = path.join(root, file);
  if (!(await makeFolder(root, path.posix.dirname(file)))) return false;
  const beside = path.join(path.dirname(at), `.copse-${process.pid}-${path.basename(at)}`.slice(0, 200));
  const [fresh, aside] = [`${beside}.new`, `${beside}.old`];
  try {
    if (content !== null) await copy(content, fresh);
    if (content !== null && version !== undefined && (await versionOf(dir, fresh)) !== version) return false;
    if (expected !== null) {
      if ((await versionOf(dir, at)) !== expected) return false;
      await rename(at, aside);
      if ((await versionOf(dir, aside)) !== expected) {
        await putBack(aside, at);
        return false;
      }
    }
    const isPlaced = content === null || (await place(fresh, at));
    await rm(aside, { force: true });
    return isPlaced;
  } finally {
    await rm(fresh, { force: true });
  }
}

/** False when the destination exists. */
async function place(from: string, to: string): Promise<boolean> {
  try {
    const found = await lstat(from);
    if (found.isSymbolicLink()) await symlink(await readlink(from), to);
    else await link(from, to);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  await rm(from);
  return true;
}

async function putBack(aside: string, at: string): Promise<void> {
  if (await place(aside, at)) return;
  throw new Error(`${at} was written twice while Copse moved it. The first version is kept as ${aside}`);
}

async function copy(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  const found = await lstat(from);
  if (found.isSymbolicLink()) await symlink(await readlink(from), to);
  else await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** False when a file or a link has its name: a link could lead anywhere. */
async function makeFolder(root: string, folder: string): Promise<boolean> {
  try {
    let at = await realpath(root);
    for (const part of folder.split('/').filter((name) => name !== '.')) {
      at = path.join(at, part);
      const found = await statOf(at);
      if (found === null) await mkdir(at);
      else if (!found.isDirectory()) return false;
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTDIR')) return false;
    throw error;
  }
}
