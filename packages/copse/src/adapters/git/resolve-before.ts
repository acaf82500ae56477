/**
 * How conflicts were resolved before: what git calls rerere, kept by Copse.
 *
 * The memory of the repository's own git is not used: agents can write it. And the command itself notes each conflict that
 * it sees, for whoever works in a checkout, one at a time; here several processes look at conflicts that are none of theirs.
 * So only the idea is git's: the conflicts of a file, in one form (resolve-markers.ts), lead to pairs of the file before and
 * after. What changed between these two is merged into the file as it is now.
 *
 * A pair is a folder `<conflicts>.<pair>` named for what is in it, put there as a whole. Its time is when it was last of
 * use. One that is not what its name says is as good as none.
 */

import { createHash, randomBytes } from 'node:crypto';
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

import { tryGit } from './process.ts';
import { type Normalised, hasMarkers, normalise } from './resolve-markers.ts';
import { readRegular } from './snapshot-place.ts';
import type { TrustedDir } from './trusted-dir.ts';

export interface MemoryLimits {
  readonly pairs: number;
  readonly bytesPerFile: number;
  readonly ageMs: number;
}

const BEFORE = 'before';
const AFTER = 'after';

/** The file without its conflicts, or undefined when nothing that is known of fits. */
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
    touch(place, nowMs);
    return merged;
  }
  return undefined;
}

export function isKnown(dir: TrustedDir, marked: string): boolean {
  const current = normalise(marked);
  return current !== undefined && placesFor(dir, current).length > 0;
}

/** False when there is nothing in it to learn. */
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
  if (existsSync(place)) touch(place, nowMs);
  else put(place, pair, nowMs);
  forget(dir, limits, nowMs);
  return true;
}

interface Pair {
  readonly before: string;
  readonly after: string;
}

async function replay(
  dir: TrustedDir,
  scratch: string,
  { text }: Normalised,
  { before, after }: Pair,
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

/** The one that was of use last comes first. */
function placesFor(dir: TrustedDir, { id }: Normalised): readonly string[] {
  return list(dir)
    .filter(({ name }) => name.startsWith(`${id}.`))
    .map(({ place }) => place);
}

interface Known {
  readonly name: string;
  readonly place: string;
  readonly usedMs: number;
}

function list(dir: TrustedDir): readonly Known[] {
  const folder = folderOf(dir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name): readonly Known[] => {
      const place = path.join(folder, name);
      const found = statSync(place, { throwIfNoEntry: false });
      return found === undefined ? [] : [{ name, place, usedMs: found.mtimeMs }];
    })
    .toSorted((one, other) => other.usedMs - one.usedMs);
}

function readPair(place: string): Pair | undefined {
  const [before, after] = [BEFORE, AFTER].map((name) =>
    readRegular(path.join(place, name))?.toString('latin1'),
  );
  if (before === undefined || after === undefined) return undefined;
  return place.endsWith(`.${nameOf({ before, after })}`) ? { before, after } : undefined;
}

function nameOf({ before, after }: Pair): string {
  return createHash('sha256').update(`${before}\0${after}`, 'latin1').digest('hex').slice(0, 32);
}

function put(place: string, { before, after }: Pair, nowMs: number): void {
  const fresh = `${path.dirname(place)}/new-${randomBytes(9).toString('hex')}`;
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(fresh, BEFORE), before, 'latin1');
  writeFileSync(path.join(fresh, AFTER), after, 'latin1');
  touch(fresh, nowMs);
  try {
    renameSync(fresh, place);
  } catch {
    // Somebody learned the same at the same time.
    rmSync(fresh, { recursive: true, force: true });
  }
}

function touch(place: string, nowMs: number): void {
  try {
    utimesSync(place, nowMs / 1000, nowMs / 1000);
  } catch {
    // Somebody forgot it at this moment.
  }
}

function forget(dir: TrustedDir, { pairs, ageMs }: MemoryLimits, nowMs: number): void {
  for (const [at, { place, usedMs }] of list(dir).entries())
    if (at >= pairs || nowMs - usedMs > ageMs) rmSync(place, { recursive: true, force: true });
}
