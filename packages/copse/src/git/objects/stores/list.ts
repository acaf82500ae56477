/** Lists the loose objects of a store. An agent can make any number of files and folders there, and links to others. */

import { type Dirent, lstatSync, opendirSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from '../../../kernel/system/error-code.ts';
import { BeyondLimits } from '../../../kernel/unavailable.ts';

/** Folders of objects with the time of their last change. */
export type FolderTimes = ReadonlyMap<string, number>;

interface Listed {
  readonly ids: readonly string[];
  /** Of the folders that were read. */
  readonly times: FolderTimes;
}

/** A folder that changed since then may change again without another time. */
const SETTLED_MS = 2_000;

/** Leaves out links, files of other names, and folders that did not change since the times before. */
export function listNew(folder: string, most: number, before?: FolderTimes): Listed {
  const place = path.join(folder, 'new');
  const settled = Date.now() - SETTLED_MS;
  let left = most;
  const entries = function* (of: string): Generator<Dirent> {
    for (const entry of entriesOf(of)) {
      if ((left -= 1) < 0)
        throw new BeyondLimits(
          `The object store ${folder} has more than ${most} files.`,
          `If an agent made them by mistake, remove them: rm -r ${place}`,
        );
      yield entry;
    }
  };
  const ids: string[] = [];
  const times = new Map<string, number>();
  for (const { name } of foldersOf(entries(place))) {
    const changedMs = lstatSync(path.join(place, name), { throwIfNoEntry: false })?.mtimeMs;
    if (changedMs === undefined || (before?.get(name) === changedMs && changedMs < settled)) continue;
    times.set(name, changedMs);
    for (const { name: rest } of entries(path.join(place, name)))
      if (/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(rest)) ids.push(name + rest);
  }
  return { ids, times };
}

/** Those in which git puts objects. */
export function objectFolders(folder: string): readonly string[] {
  const place = path.join(folder, 'new');
  return foldersOf(entriesOf(place)).map(({ name }) => path.join(place, name));
}

function foldersOf(entries: Iterable<Dirent>): readonly Dirent[] {
  return [...entries].filter((entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name));
}

/** One after another: a folder may have more than fit into the memory. Some may be deleted meanwhile. */
function* entriesOf(folder: string): Generator<Dirent> {
  let opened;
  try {
    opened = opendirSync(folder, { bufferSize: 256 });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return;
    throw error;
  }
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry;
  } finally {
    opened.closeSync();
  }
}
