/** Two trees, entry by entry. */

import { BeyondLimits } from '../../kernel/unavailable.ts';
import type { Objects } from './objects.ts';
import { type Entry, FOLDER, type NamedEntry, entryAt } from './tree-folder.ts';

export function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode;
}

export function folderIn(entry: Entry | undefined): string | undefined {
  return entry?.mode === FOLDER ? entry.id : undefined;
}

interface EntryPair {
  readonly name: string;
  readonly old: Entry | undefined;
  readonly now: Entry | undefined;
}

/** Entries of one name that are not the same. A folder is only ever beside a folder. */
export function* pairs(before: Buffer, after: Buffer, idBytes: number): Generator<EntryPair> {
  let [left, right] = [0, 0];
  while (left < before.length || right < after.length) {
    const same = sameLength(before, left, after, right, idBytes);
    if (same > 0) {
      [left, right] = [left + same, right + same];
      continue;
    }
    const [old, now] = [entryAt(before, left, idBytes), entryAt(after, right, idBytes)];
    const order = old === undefined ? 1 : now === undefined ? -1 : compareNames(old, now);
    if (order <= 0 && old !== undefined) left = old.end;
    if (order >= 0 && now !== undefined) right = now.end;
    const pair = { name: (order <= 0 ? old : now)?.name ?? '', old: undefined, now: undefined };
    if (order < 0) yield { ...pair, old };
    else if (order > 0) yield { ...pair, now };
    else if (!isSameEntry(old, now)) yield { ...pair, old, now };
  }
}

/** How long the entry is at which both are, byte for byte; 0 when they are not. Most are, so no text is made of them. */
function sameLength(before: Buffer, left: number, after: Buffer, right: number, idBytes: number): number {
  const most = Math.min(before.length - left, after.length - right);
  // Byte by byte: to call anything for each entry takes longer than to look at all of it.
  let at = 0;
  while (at < most && before[left + at] !== 0 && before[left + at] === after[right + at]) at += 1;
  const end = at + 1 + idBytes;
  if (end > most) return 0;
  while (at < end && before[left + at] === after[right + at]) at += 1;
  return at === end ? end : 0;
}

export function idBytesOf({ dir }: Objects): number {
  return dir.objectFormat === 'sha256' ? 32 : 20;
}

function compareNames(one: NamedEntry, other: NamedEntry): number {
  const [left, right] = [sortName(one), sortName(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sortName({ name, mode }: NamedEntry): string {
  return mode === FOLDER ? `${name}/` : name;
}

export function tooLarge(what: string, why: string): BeyondLimits {
  return new BeyondLimits(
    `${what} ${why}, which is more than Copse reads.`,
    'git merge # to merge it yourself, if that is meant',
  );
}
