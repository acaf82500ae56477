/**
 * Copies files and folders from the main checkout into a worktree.
 *
 * Each one is first copied whole into `.copse/incoming` of the worktree and then put in its place in one step, so that
 * being killed leaves no half of a file that a later run would take for the whole. Nothing that is there already is
 * replaced, nothing is written through a link (inside.ts), and no link is brought that leads out of the repository.
 */

import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import path from 'node:path';

import type { Brought, Skipped } from '../ports/furnishing.ts';
import { isWithin } from '../../kernel/system/within.ts';
import { isOff } from './include-file.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { NotInside } from '../../kernel/system/in-folder.ts';
import { kindOf, realFolder } from './inside.ts';

export interface BringRequest {
  /** Resolved: no link on the way. */
  readonly source: string;
  readonly target: string;
  /** Relative to both; a slash at the end is allowed. */
  readonly paths: readonly string[];
  /** Absolute folders that are never entered. */
  readonly never: readonly string[];
}

export interface BringReport {
  readonly brought: readonly Brought[];
  readonly skipped: readonly Skipped[];
}

const AT_ONCE = 16;

export async function bringFiles(request: BringRequest): Promise<BringReport> {
  const skipped: Skipped[] = [];
  if (request.paths.length === 0) return { brought: [], skipped };
  let incoming: string;
  try {
    incoming = await realFolder(request.target, '.copse/incoming');
  } catch (error) {
    if (!(error instanceof NotInside)) throw error;
    return { brought: [], skipped: request.paths.map((entry) => ({ path: entry, why: error.message })) };
  }
  try {
    const staging = await mkdtemp(path.join(incoming, 'b-'));
    const bringing = new Bringing(request, staging, skipped);
    for (const entry of request.paths) await bringing.entry(entry.replace(/\/+$/, ''));
    return { brought: bringing.brought, skipped };
  } finally {
    // Also the files of a killed run: one process at a time brings files into a worktree.
    await rm(incoming, { recursive: true, force: true });
  }
}

interface Copy {
  readonly relative: string;
  readonly to: string;
}

class Bringing {
  readonly brought: Brought[] = [];
  readonly #request: BringRequest;
  readonly #staging: string;
  readonly #skipped: Skipped[];
  #staged = 0;

  constructor(request: BringRequest, staging: string, skipped: Skipped[]) {
    this.#request = request;
    this.#staging = staging;
    this.#skipped = skipped;
  }

  async entry(relative: string): Promise<void> {
    try {
      if (isOff(relative)) return this.#skip(relative, 'It belongs to git or to Copse.');
      await this.#requireReal(relative);
      const folder = await realFolder(this.#request.target, path.posix.dirname(relative));
      await this.#bring(relative, folder);
    } catch (error) {
      if (error instanceof NotInside) return this.#skip(relative, error.message);
      if (hasCode(error, 'ENOENT'))
        return this.#skip(relative, 'It is not in the main checkout, or was deleted meanwhile.');
      if (hasCode(error, 'EACCES', 'EPERM')) return this.#skip(relative, 'Permission denied.');
      throw error;
    }
  }

  async #bring(relative: string, folder: string): Promise<void> {
    const to = path.join(folder, path.posix.basename(relative));
    const from = path.join(this.#request.source, relative);
    const there = await kindOf(to);
    if (there === 'folder' && (await kindOf(from)) === 'folder') return this.#merge(relative, from, to);
    if (there !== 'nothing')
      return this.#skip(relative, there === 'link' ? 'A link already exists there.' : 'It already exists.');
    const staged = path.join(this.#staging, String((this.#staged += 1)));
    const counted = await this.#stage(relative, staged);
    if (counted === undefined) return;
    if (await publish(staged, to)) this.brought.push({ path: relative, ...counted });
    else this.#skip(relative, 'It already exists.');
  }

  /** The worktree has a folder of this name: its missing entries are brought one by one. */
  async #merge(relative: string, from: string, to: string): Promise<void> {
    if (!(await this.#mayEnter(relative, from))) return;
    for (const name of await readdir(from)) {
      const child = `${relative}/${name}`;
      if (isOff(child)) this.#skip(child, 'It belongs to git or to Copse.');
      else await this.#bring(child, to);
    }
  }

  /** Copies one entry with its content into the staging folder. Undefined when it is skipped. */
  async #stage(relative: string, staged: string): Promise<{ files: number; bytes: number } | undefined> {
    const files: Copy[] = [];
    const folders: { readonly at: string; readonly mode: number }[] = [];
    if (!(await this.#collect({ relative, to: staged }, files, folders))) return undefined;
    let bytes = 0;
    let count = 0;
    await inParallel(files, async (file) => {
      const size = await this.#copy(file, relative);
      if (size === undefined) return;
      bytes += size;
      count += 1;
    });
    // Last, and the innermost first: a folder may be read-only.
    for (const { at, mode } of folders.toReversed()) await chmod(at, mode & 0o777);
    return count === 0 && folders.length === 0 ? undefined : { files: count, bytes };
  }

  async #collect(
    at: Copy,
    files: Copy[],
    folders: { readonly at: string; readonly mode: number }[],
  ): Promise<boolean> {
    const from = path.join(this.#request.source, at.relative);
    const found = await lstat(from);
    if (!found.isDirectory()) {
      files.push(at);
      return true;
    }
    if (!(await this.#mayEnter(at.relative, from))) return false;
    await mkdir(at.to);
    folders.push({ at: at.to, mode: found.mode });
    for (const name of await readdir(from)) {
      const child = { relative: `${at.relative}/${name}`, to: path.join(at.to, name) };
      if (isOff(child.relative)) this.#skip(child.relative, 'It belongs to git or to Copse.');
      else await this.#collect(child, files, folders);
    }
    return true;
  }

  async #mayEnter(relative: string, from: string): Promise<boolean> {
    if (this.#request.never.some((folder) => isWithin(folder, from))) {
      this.#skip(relative, 'It holds worktrees.');
      return false;
    }
    // Two folders with the same `.git` file would be one worktree to git.
    if ((await kindOf(path.join(from, '.git'))) === 'file') {
      this.#skip(relative, 'It is a checkout of its own.');
      return false;
    }
    return true;
  }

  /** The size, or undefined when it was skipped. */
  async #copy({ relative, to }: Copy, within: string): Promise<number | undefined> {
    const from = path.join(this.#request.source, relative);
    const found = await lstat(from);
    if (found.isSymbolicLink()) return (await this.#copyLink(relative, from, to)) ? 0 : undefined;
    if (!found.isFile()) {
      this.#skip(relative, 'It is neither a file, a folder nor a link.');
      return undefined;
    }
    try {
      await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM', 'ENOENT') || relative === within) throw error;
      this.#skip(
        relative,
        hasCode(error, 'ENOENT') ? 'It was deleted from the main checkout meanwhile.' : 'Permission denied.',
      );
      return undefined;
    }
    return found.size;
  }

  /** A link that stays inside the repository leads to the same place of the worktree. */
  async #copyLink(relative: string, from: string, to: string): Promise<boolean> {
    const { source } = this.#request;
    const text = await readlink(from);
    const named = path.resolve(path.dirname(from), text);
    const real = await realpath(named).catch(() => named);
    const isInside =
      isWithin(source, named) && isWithin(source, real) && !isOff(path.relative(source, named));
    if (!isInside) {
      this.#skip(
        relative,
        `It is a link to ${text}, outside ${isWithin(source, named) ? 'what may be brought' : 'the repository'}.`,
      );
      return false;
    }
    await symlink(path.isAbsolute(text) ? path.relative(path.dirname(from), named) || '.' : text, to);
    return true;
  }

  /** The folder that holds the entry has to be where its name says, not behind a link. */
  async #requireReal(relative: string): Promise<void> {
    const holder = path.dirname(path.join(this.#request.source, relative));
    if (
      !isWithin(this.#request.source, path.join(this.#request.source, relative)) ||
      (await realpath(holder)) !== holder
    )
      throw new NotInside('It is not inside the main checkout.');
  }

  #skip(relative: string, why: string): void {
    this.#skipped.push({ path: relative, why });
  }
}

/** Moves it into place in one step. False if the path is taken. */
async function publish(staged: string, to: string): Promise<boolean> {
  try {
    const isFile = (await kindOf(staged)) === 'file';
    // Unlike a rename, a hard link refuses a name that is taken. Links and folders have no hard links everywhere.
    if (isFile) await link(staged, to);
    else if ((await kindOf(to)) === 'nothing') await rename(staged, to);
    else return false;
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR')) return false;
    throw error;
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
}
