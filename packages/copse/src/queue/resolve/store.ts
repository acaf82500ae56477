/**
 * A store of recorded results. Each entry is a folder named after a hash of its content and appears by one rename; its mtime is
 * the time of its last use. Several processes may read, add and delete entries at the same time.
 */

import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** The entries whose names begin so, the most recently used first. */
export function findEntries(store: string, beginning: string): readonly string[] {
  return list(store)
    .filter(({ name }) => name.startsWith(beginning))
    .map(({ place }) => place);
}

/** One character per byte. */
export function putEntry(place: string, files: Readonly<Record<string, string>>, nowMs: number): void {
  if (existsSync(place)) {
    touchEntry(place, nowMs);
    return;
  }
  const fresh = `${path.dirname(place)}/new-${randomBytes(9).toString('hex')}`;
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(files))
    writeFileSync(path.join(fresh, name), content, 'latin1');
  touchEntry(fresh, nowMs);
  try {
    renameSync(fresh, place);
  } catch {
    // Another process added the same entry.
    rmSync(fresh, { recursive: true, force: true });
  }
}

export function touchEntry(place: string, nowMs: number): void {
  try {
    utimesSync(place, nowMs / 1000, nowMs / 1000);
  } catch {
    // Another process has just deleted it.
  }
}

export function forgetEntries(
  store: string,
  { most, ageMs }: { readonly most: number; readonly ageMs: number },
  nowMs: number,
): void {
  for (const [at, { place, usedMs }] of list(store).entries())
    if (at >= most || nowMs - usedMs > ageMs) rmSync(place, { recursive: true, force: true });
}

interface Known {
  readonly name: string;
  readonly place: string;
  readonly usedMs: number;
}

function list(store: string): readonly Known[] {
  if (!existsSync(store)) return [];
  return readdirSync(store)
    .flatMap((name): readonly Known[] => {
      const place = path.join(store, name);
      const found = statSync(place, { throwIfNoEntry: false });
      return found === undefined ? [] : [{ name, place, usedMs: found.mtimeMs }];
    })
    .toSorted((one, other) => other.usedMs - one.usedMs);
}
