/** The stores of all attempts on this machine: brought while agents work, closed when their processes are gone. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { shellQuoted } from '../../../kernel/shell.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { removeTree } from '../../../kernel/system/remove-tree.ts';
import { BeyondLimits, isBeyondLimits } from '../../../kernel/unavailable.ts';
import { processesOfAttempt } from '../../../processes/end.ts';
import type { ObjectStores, StoreId, UnbroughtObject } from '../../port.ts';
import type { TrustedDir } from '../../process.ts';
import { type SeenObjects, type StoreBringing, bring, bringSteps } from './bring.ts';
import { listStores, setStoreAside, storeFolder } from './layout.ts';

export const storeSteps = [...bringSteps, 'emptied'] as const;
type StoreStep = (typeof storeSteps)[number];

interface StoreOptions {
  readonly mostObjects?: number;
  readonly onStep?: (step: StoreStep) => void;
}

export function openStores(dir: TrustedDir, options: StoreOptions = {}): ObjectStores {
  const { commonDir } = dir;
  const { onStep = () => {} } = options;
  const { mostObjects } = options;
  const bringMore = (store: StoreId) =>
    bringNew(dir, store, mostObjects === undefined ? {} : { mostObjects });
  const isOver = async ({ attempt }: StoreId) => (await processesOfAttempt(attempt)).length === 0;
  const bringLast = (folder: string) =>
    readable(folder, () => bring(dir, folder, { ...options, isLast: true }));
  const close = async (store: StoreId) => {
    const folder = storeFolder(commonDir, store);
    if (!existsSync(folder)) return [];
    if (!(await isOver(store))) return bringMore(store);
    const left = await bringLast(folder);
    if (left.length === 0) await remove(folder, onStep);
    return left;
  };
  const drop = async (store: StoreId) => {
    const folder = storeFolder(commonDir, store);
    if (!existsSync(folder) || !(await isOver(store))) return;
    const isBeyond = await bringLast(folder).then(
      (left) => left.some((one) => one.isBeyondLimits),
      (error: unknown) => {
        if (isBeyondLimits(error)) return true;
        throw error;
      },
    );
    if (isBeyond) setStoreAside(commonDir, store);
    else await remove(folder, onStep);
  };
  return {
    list: () => listStores(commonDir),
    bring: async (task) => {
      for (const store of listStores(commonDir)) if (store.task === task) await bringMore(store);
    },
    close,
    drop,
    setAside: (task) =>
      listStores(commonDir)
        .filter((store) => store.task === task)
        .map((store) => setStoreAside(commonDir, store)),
  };
}

/** An agent made the store, so an error in reading it concerns only its task. Those of a full disk and the like do not. */
async function readable<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfStore = error instanceof RangeError || hasCode(error, 'EACCES', 'EPERM', 'ELOOP', 'ENOTDIR');
    if (!isOfStore) throw error;
    throw new BeyondLimits(
      `The object store ${folder} cannot be read: ${String(error)}`,
      `ls -la ${shellQuoted(path.join(folder, 'new'))} # to look at it`,
      { cause: error },
    );
  }
}

async function remove(folder: string, onStep: (step: StoreStep) => void): Promise<void> {
  // All of it is in the repository. A folder that cannot be removed does no harm, and the next sweep tries again.
  const tryRemove = (place: string) => removeTree(place).catch(() => {});
  await tryRemove(path.join(folder, 'new'));
  onStep('emptied');
  await tryRemove(folder);
  known.delete(folder);
}

/**
 * False when there is no store. For a reader that misses an object: an agent may have just written it. A store that cannot be
 * read, or takes long, is the problem of its own task.
 */
export async function bringAll(dir: TrustedDir): Promise<boolean> {
  const stores = listStores(dir.commonDir);
  const quick = { isQuick: true, mostObjects: defaultPolicy.git.missedObjects };
  const brought = Promise.all(
    stores.map(async (store) => {
      await bringNew(dir, store, quick).catch(() => {});
    }),
  );
  await Promise.race([brought, sleep(PATIENCE_MS, undefined, { ref: false })]);
  return stores.length > 0;
}

const PATIENCE_MS = defaultPolicy.objectStores.patienceMs;

interface SeenStore {
  readonly seen: SeenObjects;
  /** Of this process. */
  turn: Promise<unknown>;
  /** Looks that have not begun. All that ask meanwhile get the same one. */
  readonly next: Map<'quick' | 'full', Promise<readonly UnbroughtObject[]>>;
}

/** What this process has seen in each store, by its folder. */
const known = new Map<string, SeenStore>();

function bringNew(
  dir: TrustedDir,
  store: StoreId,
  options: StoreBringing = {},
): Promise<readonly UnbroughtObject[]> {
  for (const folder of known.keys()) if (!existsSync(folder)) known.delete(folder);
  const folder = storeFolder(dir.commonDir, store);
  const found: SeenStore = known.get(folder) ?? {
    seen: newlySeen(),
    turn: Promise.resolve(),
    next: new Map(),
  };
  known.set(folder, found);
  const kind = options.isQuick === true ? 'quick' : 'full';
  const waiting = found.next.get(kind);
  if (waiting !== undefined) return waiting;
  const brought = found.turn.then(() => {
    found.next.delete(kind);
    return readable(folder, () => bring(dir, folder, { ...options, seen: found.seen }));
  });
  found.next.set(kind, brought);
  found.turn = brought.catch(() => {});
  return brought;
}

function newlySeen(): SeenObjects {
  return { known: new Set(), failed: new Map(), large: new Map(), left: new Set(), folders: new Map() };
}
