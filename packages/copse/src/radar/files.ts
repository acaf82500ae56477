/**
 * The conflict radar's files in `.copse`. Their shape is checked when they are read: a file that is cut off, edited or of
 * another version is ignored.
 */

import { type CommitId, type TaskId, type Timestamp, brand, timestamp } from '../kernel/ids.ts';
import type { LiveBranch, Pair, RadarMemory, Sighting, Touched, PairVerdict } from './rules/radar.ts';

const VERSION = 2;

export function sightingFile(sighting: Sighting): unknown {
  return { version: VERSION, ...sighting };
}

export function memoryFile(memory: RadarMemory): unknown {
  return { version: VERSION, ...memory };
}

export function parseSighting(file: unknown): Sighting | undefined {
  return tryRead(() => {
    const { at, branches, pairs, omitted } = versioned(file);
    return {
      at: time(at),
      branches: list(branches, ({ task, branch, tip }) => ({
        task: brand(text(task)),
        branch: brand(text(branch)),
        tip: brand(text(tip)),
      })),
      pairs: list(pairs, pair),
      omitted: number(omitted),
    };
  });
}

export function parseMemory(file: unknown): RadarMemory | undefined {
  return tryRead(() => {
    const { branches, pairs, isWhole } = versioned(file);
    return { branches: list(branches, liveBranch), pairs: list(pairs, pair), isWhole: isWhole === true };
  });
}

type StoredFields = Readonly<Record<string, unknown>>;

class Misshapen extends Error {}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Misshapen) return undefined;
    throw error;
  }
}

function versioned(file: unknown): StoredFields {
  const found = fields(file);
  if (found['version'] !== VERSION) throw new Misshapen();
  return found;
}

function liveBranch({ task, branch, target, tip, base, touched }: StoredFields): LiveBranch {
  return {
    task: brand(text(task)),
    branch: brand(text(branch)),
    target: brand(text(target)),
    tip: brand(text(tip)),
    base: brand(text(base)),
    touched: touchedPaths(fields(touched)),
  };
}

function touchedPaths({ paths, emptied, isWide }: StoredFields): Touched {
  return { paths: texts(paths), emptied: texts(emptied), isWide: isWide === true };
}

function pair({ tasks, tips, verdict: found, since }: StoredFields): Pair {
  return {
    tasks: two(tasks) as readonly [TaskId, TaskId],
    tips: two(tips) as readonly [CommitId, CommitId],
    verdict: verdict(fields(found)),
    since: time(since),
  };
}

function verdict({ kind, files, omitted, was }: StoredFields): PairVerdict {
  switch (kind) {
    case 'apart':
      return { kind };
    case 'overlap':
    case 'conflict':
      return { kind, files: texts(files), omitted: number(omitted) };
    case 'pending': {
      const before = was === null ? null : fields(was);
      return { kind, was: before && { kind: text(before['kind']), since: time(before['since']) } };
    }
    default:
      throw new Misshapen();
  }
}

function fields(value: unknown): StoredFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Misshapen();
  return value as StoredFields;
}

function list<T>(value: unknown, one: (found: StoredFields) => T): readonly T[] {
  if (!Array.isArray(value)) throw new Misshapen();
  return value.map((each) => one(fields(each)));
}

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new Misshapen();
  return value.map((each) => text(each));
}

function two(value: unknown): readonly [string, string] {
  const [one, other, ...more] = texts(value);
  if (one === undefined || other === undefined || more.length > 0) throw new Misshapen();
  return [one, other];
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Misshapen();
  return value;
}

function time(value: unknown): Timestamp {
  return timestamp(number(value));
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Misshapen();
  return value;
}
