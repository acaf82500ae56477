/**
 * Reuses recorded resolutions, as `git rerere` does.
 *
 * Copse keeps its own record. Agents can write git's, and the git command is made for one person in one checkout, while here
 * several processes read conflicts of several branches. The normalised conflicts of a file (markers.ts) lead to pairs of the
 * file before and after; Copse merges the difference of a pair into the file as it is now.
 *
 * A pair is an entry `<conflicts>.<pair>` (store.ts). Entries whose hash does not match are ignored.
 */

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { tryGit, type TrustedDir } from '../../git/process.ts';
import { type Normalised, hasMarkers, normalise } from './markers.ts';
import { findEntries, forgetEntries, putEntry, touchEntry } from './store.ts';
import { readRegular } from '../../git/worktrees/place.ts';

export interface MemoryLimits {
  readonly pairs: number;
  readonly bytesPerFile: number;
  readonly ageMs: number;
}

const BEFORE = 'before';
const AFTER = 'after';

/** The file without its conflicts, or undefined when no recorded resolution fits. */
export async function resolveAsBefore(
  dir: TrustedDir,
  scratch: string,
  marked: string,
  nowMs: number,
): Promise<string | undefined> {
  const current = normalise(marked);
  if (current === undefined) return undefined;
  for (const place of placesFor(dir, current)) {
    const pair = readPair(place);
    const merged = pair && (await replay(dir, scratch, current, pair));
    if (merged === undefined || hasMarkers(merged)) continue;
    touchEntry(place, nowMs);
    return merged;
  }
  return undefined;
}

export function isKnown(dir: TrustedDir, marked: string): boolean {
  const current = normalise(marked);
  return current !== undefined && placesFor(dir, current).length > 0;
}

/** False when the file holds no conflict, the resolution still holds markers, or either is too large. */
export function remember(
  dir: TrustedDir,
  { marked, resolved }: { readonly marked: string; readonly resolved: string },
  limits: MemoryLimits,
  nowMs: number,
): boolean {
  const conflict = normalise(marked);
  if (conflict === undefined || hasMarkers(resolved)) return false;
  if (Math.max(marked.length, resolved.length) > limits.bytesPerFile) return false;
  const pair = { before: conflict.text, after: resolved };
  const place = path.join(folderOf(dir), `${conflict.id}.${nameOf(pair)}`);
  putEntry(place, { [BEFORE]: pair.before, [AFTER]: pair.after }, nowMs);
  forgetEntries(folderOf(dir), { most: limits.pairs, ageMs: limits.ageMs }, nowMs);
  return true;
}

interface RecordedPair {
  readonly before: string;
  readonly after: string;
}

async function replay(
  dir: TrustedDir,
  scratch: string,
  { text }: Normalised,
  { before, after }: RecordedPair,
): Promise<string | undefined> {
  if (text === before) return after;
  const folder = path.join(scratch, `before-${randomBytes(6).toString('hex')}`);
  mkdirSync(folder);
  const files = Object.entries({ text, before, after }).map(([name, content]) => {
    const file = path.join(folder, name);
    writeFileSync(file, content, 'latin1');
    return file;
  });
  const { code, stdout } = await tryGit(dir, ['merge-file', '-p', '-q', ...files]);
  return code === 0 ? stdout.toString('latin1') : undefined;
}

function folderOf({ home }: TrustedDir): string {
  return path.join(home, '.copse', 'resolutions');
}

function placesFor(dir: TrustedDir, { id }: Normalised): readonly string[] {
  return findEntries(folderOf(dir), `${id}.`);
}

function readPair(place: string): RecordedPair | undefined {
  const [before, after] = [BEFORE, AFTER].map((name) =>
    readRegular(path.join(place, name))?.toString('latin1'),
  );
  if (before === undefined || after === undefined) return undefined;
  return place.endsWith(`.${nameOf({ before, after })}`) ? { before, after } : undefined;
}

function nameOf({ before, after }: RecordedPair): string {
  return createHash('sha256').update(`${before}\0${after}`, 'latin1').digest('hex').slice(0, 32);
}
