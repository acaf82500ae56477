/**
 * The object store of an attempt in a sandbox: what its agent sees as the repository's `objects`.
 *
 *   <git directory>/copse/objects/<task>.<attempt>/
 *     new/         mounted over `objects`: the objects that the agent writes
 *     info/        mounted over `objects/info`, read-only: names `repository` as an alternate
 *     pack/        mounted over `objects/pack`, read-only and empty: the agent adds no pack
 *     no-alternates  mounted over `repository/info/alternates`, if a person has that file: `info` has its lines
 *     repository/  the repository's own objects are mounted here, read-only; outside it stays empty
 *
 * No git outside reads a store. Git does not write an object that an alternate has a file for, whatever that file holds: in
 * a store that the repository names as an alternate, an agent could keep the objects of others from being written.
 */

import { existsSync, lstatSync, renameSync } from 'node:fs';
import path from 'node:path';

import { type AttemptId, type TaskId, brand, parseTaskId } from '../../../kernel/ids.ts';
import { shellQuoted } from '../../../kernel/shell.ts';
import { namesIn } from '../../../kernel/system/names-in.ts';
import { readIfPlain } from '../../../kernel/system/plain-file.ts';
import { makeReal, openReal } from '../../../kernel/system/real-folder.ts';
import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { StoreId } from '../../port.ts';
import { RepositoryUnavailable } from '../../unavailable.ts';

/** A folder of this machine at another path inside a sandbox. */
export interface StoreMount {
  readonly source: string;
  readonly target: string;
  readonly isWritable: boolean;
}

/** Makes the store unless it is there, and says what is mounted where, outer folders first. */
export function layStore(commonDir: string, of: StoreId): readonly StoreMount[] {
  const folder = storeFolder(commonDir, of);
  const objects = path.join(commonDir, 'objects');
  const inside = (name: string) => path.join(folder, name);
  for (const name of ['new', 'new/info', 'new/pack', 'info', 'pack', 'repository']) {
    makeReal(commonDir, inside(name), { require: requireReal, mode: 0o700 });
    // An earlier agent of the attempt may have taken the permissions away.
    openReal(inside(name))?.close();
  }
  const own = path.relative(objects, inside('repository'));
  const alternates = path.join(objects, 'info', 'alternates');
  const others = readIfPlain(alternates) ?? '';
  // Relative to `objects`, so that no path has to be quoted; a person's relative lines keep their meaning.
  writeAtomically(inside('info/alternates'), `${own}\n${others}`);
  writeAtomically(inside('no-alternates'), '');
  return [
    { source: inside('new'), target: objects, isWritable: true },
    { source: inside('info'), target: path.join(objects, 'info'), isWritable: false },
    { source: inside('pack'), target: path.join(objects, 'pack'), isWritable: false },
    { source: objects, target: inside('repository'), isWritable: false },
    // Git refuses relative lines in the alternates of an alternate. `info/alternates` has them all.
    ...(existsSync(alternates)
      ? [{ source: inside('no-alternates'), target: inside('repository/info/alternates'), isWritable: false }]
      : []),
  ];
}

export function storeFolder(commonDir: string, { task, attempt }: StoreId): string {
  return path.join(allStores(commonDir), `${task}.${attempt}`);
}

export function listStores(commonDir: string): readonly StoreId[] {
  return namesIn(allStores(commonDir)).flatMap((name) => {
    const [first = '', attempt = '', ...more] = name.split('.');
    const task: TaskId | undefined = parseTaskId(first);
    if (task === undefined || !/^[\w-]+$/.test(attempt) || more.length > 0) return [];
    return [{ task, attempt: brand<AttemptId>(attempt) }];
  });
}

/**
 * Moves a store to `<git directory>/copse/set-aside`, where Copse neither reads nor deletes it: it may have the only copy of a
 * commit. Returns its new place.
 */
export function setStoreAside(commonDir: string, of: StoreId): string {
  const folder = storeFolder(commonDir, of);
  const to = asideFolder(folder);
  makeReal(commonDir, path.dirname(to), { require: requireReal, mode: 0o700 });
  renameSync(folder, to);
  return to;
}

/** A free name. */
export function asideFolder(folder: string): string {
  const to = path.join(path.dirname(folder), '..', 'set-aside', path.basename(folder));
  let free = to;
  for (let number = 2; existsSync(free); number += 1) free = `${to}.${number}`;
  return free;
}

function allStores(commonDir: string): string {
  return path.join(commonDir, 'copse', 'objects');
}

/** An agent that once ran without a sandbox could have put a link there. */
function requireReal(place: string): void {
  if (lstatSync(place).isDirectory()) return;
  throw new RepositoryUnavailable(
    `${place} is a link, and the objects of agents are kept in real folders only.`,
    `rm ${shellQuoted(place)} # to remove the link`,
  );
}
