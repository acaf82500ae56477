/**
 * The object store of an attempt in a sandbox: what its agent sees as the repository's `objects`.
 *
 *   <git directory>/copse/objects/<task>.<attempt>/
 *     new/         mounted over `objects`: the objects that the agent writes
 *     info/        mounted over `objects/info`, read-only: names `repository` as an alternate
 *     pack/        mounted over `objects/pack`, read-only and empty: the agent adds no pack
 *     repository/  the repository's own objects are mounted here, read-only; outside it stays empty
 *
 * No git outside reads a store. Git does not write an object that an alternate has a file for, whatever that file holds: in
 * a store that the repository names as an alternate, an agent could keep the objects of others from being written.
 */

import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import { type AttemptId, type TaskId, brand, parseTaskId } from '../../../kernel/ids.ts';
import { namesIn } from '../../../kernel/system/names-in.ts';
import { readIfPlain } from '../../../kernel/system/plain-file.ts';
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
  for (const name of ['new', 'new/info', 'new/pack', 'info', 'pack', 'repository'])
    makeReal(commonDir, inside(name));
  const own = path.relative(objects, inside('repository'));
  const others = readIfPlain(path.join(objects, 'info', 'alternates')) ?? '';
  // Relative to `objects`, so that no path has to be quoted; a person's relative lines keep their meaning.
  writeAtomically(inside('info/alternates'), `${own}\n${others}`);
  return [
    { source: inside('new'), target: objects, isWritable: true },
    { source: inside('info'), target: path.join(objects, 'info'), isWritable: false },
    { source: inside('pack'), target: path.join(objects, 'pack'), isWritable: false },
    { source: objects, target: inside('repository'), isWritable: false },
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

function allStores(commonDir: string): string {
  return path.join(commonDir, 'copse', 'objects');
}

/** Level by level: an agent that once ran without a sandbox could have put a link there. */
function makeReal(from: string, folder: string): void {
  let place = from;
  for (const part of path.relative(from, folder).split(path.sep)) {
    place = path.join(place, part);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    if (!lstatSync(place).isDirectory())
      throw new RepositoryUnavailable(
        `${place} is a link, and the objects of agents are kept in real folders only.`,
        `Remove the link: rm ${place}`,
      );
  }
}
