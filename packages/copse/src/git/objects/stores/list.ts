/** Lists the loose objects of a store. An agent can make any number of files and folders there, and links to others. */

import { type Dirent, opendirSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { shellQuoted } from '../../../kernel/shell.ts';
import { openReal } from '../../../kernel/system/real-folder.ts';
import { BeyondLimits } from '../../../kernel/unavailable.ts';
import { asideFolder } from './layout.ts';

/** Folders of objects with the time of their last change. */
export type FolderTimes = ReadonlyMap<string, number>;

interface Listed {
  readonly ids: readonly string[];
  /** Of the folders that were read. */
  readonly times: FolderTimes;
}

const SETTLED_MS = defaultPolicy.objectStores.settledMs;

/** Leaves out links, files of other names, and folders that did not change since the times before. */
export function listNew(folder: string, most: number, before?: FolderTimes): Listed {
  const place = path.join(folder, 'new');
  const settled = Date.now() - SETTLED_MS;
  let left = most;
  const count = () => {
    if ((left -= 1) < 0) throw tooMany(folder, most);
  };
  const ids: string[] = [];
  const times = new Map<string, number>();
  const names: string[] = [];
  eachIn(place, undefined, (entry) => {
    count();
    if (entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)) names.push(entry.name);
  });
  for (const name of names) {
    const isUnchanged = (changedMs: number) => before?.get(name) === changedMs && changedMs < settled;
    const changedMs = eachIn(path.join(place, name), isUnchanged, (entry) => {
      count();
      if (/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(entry.name)) ids.push(name + entry.name);
    });
    if (changedMs !== undefined) times.set(name, changedMs);
  }
  return { ids, times };
}

function tooMany(folder: string, most: number): BeyondLimits {
  return new BeyondLimits(
    `The object store ${folder} has more than ${most} files.`,
    `mkdir -p ${shellQuoted(path.dirname(asideFolder(folder)))} && mv ${shellQuoted(folder)} ${shellQuoted(asideFolder(folder))} # to move it aside, which keeps the commits that are only there`,
  );
}

/** One after another: a folder may have more than fit into the memory. Returns when the folder changed, if it was read. */
function eachIn(
  place: string,
  isLeftOut: ((changedMs: number) => boolean) | undefined,
  work: (entry: Dirent) => void,
): number | undefined {
  const real = openReal(place);
  if (real === undefined) return undefined;
  try {
    if (isLeftOut?.(real.changedMs)) return undefined;
    const opened = opendirSync(real.path, { bufferSize: 256 });
    try {
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) work(entry);
    } finally {
      opened.closeSync();
    }
    return real.changedMs;
  } finally {
    real.close();
  }
}
