/** The record of a removed worktree on disk; trash.ts has the order in which it is written. */

import { closeSync, lstatSync, openSync } from 'node:fs';
import path from 'node:path';

import { syncFolder, writeAtomically } from '../../kernel/system/write-atomically.ts';
import type { TrashEntry, TrashRecord } from '../ports/trash.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';

export const RECORD = 'record.json';
const RETIRED = 'retired';
const THIN = 'thin';
const BEGUN = 'begun';
const KEPT = 'kept';

/** Oldest first. A folder without a whole record is not an entry: nothing was moved into it. */
export function listTrash(home: string): readonly TrashEntry[] {
  return namesIn(trashFolder(home))
    .toSorted()
    .flatMap((name) => readEntry(path.join(trashFolder(home), name)) ?? []);
}

export function trashFolder(home: string): string {
  return path.join(home, '.copse', 'trash');
}

/** Places inside the entry are written as such, so that a repository can be moved with its trash. */
export function writeEntry({ folder, record, files, gitDir, gitDirWas }: TrashEntry): void {
  const places = { files: path.relative(folder, files), gitDir: path.relative(folder, gitDir), gitDirWas };
  const text = `${JSON.stringify({ ...record, places }, undefined, 2)}\n`;
  writeAtomically(path.join(folder, RECORD), text, { isDurable: true });
  syncFolder(path.dirname(folder));
}

export function readEntry(folder: string): TrashEntry | undefined {
  const text = readIfPlain(path.join(folder, RECORD));
  if (text === undefined) return undefined;
  const stored = parseRecord(text);
  if (stored === undefined) return undefined;
  const { places, ...record } = stored;
  return {
    folder,
    record,
    files: path.resolve(folder, places.files),
    gitDir: path.resolve(folder, places.gitDir),
    gitDirWas: places.gitDirWas,
    isRetired: isThere(path.join(folder, RETIRED)),
    isBegun: isThere(path.join(folder, BEGUN)),
    isThin: isThere(path.join(folder, THIN)),
    isKept: isThere(path.join(folder, KEPT)),
  };
}

interface StoredRecord extends TrashRecord {
  readonly places: { readonly files: string; readonly gitDir: string; readonly gitDirWas: string | null };
}

/** Undefined for a damaged record. It and the files beside it stay, because their origin is unknown. */
function parseRecord(text: string): StoredRecord | undefined {
  try {
    const stored = JSON.parse(text) as Partial<StoredRecord> | null;
    return typeof stored?.places?.files === 'string' ? (stored as StoredRecord) : undefined;
  } catch {
    return undefined;
  }
}

export function retire(entry: TrashEntry): void {
  mark(entry, RETIRED);
}

export function begin(entry: TrashEntry): void {
  mark(entry, BEGUN);
}

export function markThin(entry: TrashEntry): void {
  mark(entry, THIN);
}

export function markKept(entry: TrashEntry): void {
  mark(entry, KEPT);
}

function mark({ folder }: TrashEntry, name: string): void {
  closeSync(openSync(path.join(folder, name), 'w', 0o600));
  syncFolder(folder);
}

export function isThere(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
}
