/** The stores of all attempts on this machine: brought while agents work, closed when their processes are gone. */

import { chmodSync, existsSync } from 'node:fs';
import path from 'node:path';

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
  seenIn.delete(folder);
}

/**
 * False when there is no store. For a reader that misses an object: an agent may have just written it. A store that cannot be
 * read, or takes long, is the problem of its own task.
 */
export async function bringAll(dir: TrustedDir): Promise<boolean> {
  const stores = listStores(dir.commonDir);
  const quick = { isQuick: true, mostObjects: defaultPolicy.git.missedObjects };
  for (const store of stores) await bringNew(dir, store, quick).catch(() => {});
  return stores.length > 0;
}

/** What this process has seen in each store, by its folder. */
const seenIn = new Map<string, SeenObjects>();

async function bringNew(dir: TrustedDir, store: StoreId, options: StoreBringing = {}): Promise<void> {
  for (const folder of seenIn.keys()) if (!existsSync(folder)) seenIn.delete(folder);
  const folder = storeFolder(dir.commonDir, store);
  const seen = seenIn.get(folder) ?? { known: new Set(), damaged: new Map() };
  seenIn.set(folder, seen);
  await bring(dir, folder, { ...options, seen });
}
