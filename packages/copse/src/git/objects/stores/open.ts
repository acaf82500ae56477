/** The stores of all attempts on this machine: brought while agents work, closed when their processes are gone. */

import { chmodSync, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { removeTree } from '../../../kernel/system/remove-tree.ts';
import { isBeyondLimits } from '../../../kernel/unavailable.ts';
import { processesOfAttempt } from '../../../processes/end.ts';
import type { ObjectStores, StoreId } from '../../port.ts';
import type { TrustedDir } from '../../process.ts';
import { type SeenObjects, type StoreBringing, bring, bringSteps } from './bring.ts';
import { listStores, storeFolder } from './layout.ts';
import { objectFolders } from './list.ts';

export const storeSteps = [...bringSteps, 'emptied'] as const;
type StoreStep = (typeof storeSteps)[number];

export function openStores(
  dir: TrustedDir,
  { onStep = () => {} }: { readonly onStep?: (step: StoreStep) => void } = {},
): ObjectStores {
  const { commonDir } = dir;
  const close = async (store: StoreId, isForced: boolean) => {
    const folder = storeFolder(commonDir, store);
    if (!existsSync(folder)) return [];
    if ((await processesOfAttempt(store.attempt)).length > 0) {
      await bringNew(dir, store);
      return [];
    }
    // No process of the agent is left to put a link in their place.
    for (const one of objectFolders(folder)) chmodSync(one, 0o700);
    const left = await bring(dir, folder, { onStep }).catch((error: unknown) => {
      if (isForced && isBeyondLimits(error)) return [];
      throw error;
    });
    if (left.length === 0 || isForced) await remove(folder, onStep);
    return left;
  };
  return {
    list: () => listStores(commonDir),
    bring: async (task) => {
      for (const store of listStores(commonDir)) if (store.task === task) await bringNew(dir, store);
    },
    close: (store) => close(store, false),
    drop: async (store) => void (await close(store, true)),
  };
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
  const brought = Promise.all(stores.map((store) => bringNew(dir, store, quick).catch(() => {})));
  await Promise.race([brought, sleep(PATIENCE_MS, undefined, { ref: false })]);
  return stores.length > 0;
}

const PATIENCE_MS = 10_000;

interface SeenStore {
  readonly seen: SeenObjects;
  /** Of this process. */
  turn: Promise<unknown>;
}

/** What this process has seen in each store, by its folder. */
const known = new Map<string, SeenStore>();

function bringNew(dir: TrustedDir, store: StoreId, options: StoreBringing = {}): Promise<unknown> {
  for (const folder of known.keys()) if (!existsSync(folder)) known.delete(folder);
  const folder = storeFolder(dir.commonDir, store);
  const found = known.get(folder) ?? { seen: newlySeen(), turn: Promise.resolve() };
  known.set(folder, found);
  const brought = found.turn.then(() => bring(dir, folder, { ...options, seen: found.seen }));
  found.turn = brought.catch(() => {});
  return brought;
}

function newlySeen(): SeenObjects {
  return { known: new Set(), damaged: new Map(), left: new Set(), folders: new Map() };
}
