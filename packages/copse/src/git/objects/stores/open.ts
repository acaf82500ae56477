/** The stores of all attempts on this machine: brought while agents work, closed when their processes are gone. */

import { chmodSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';

import { isBeyondLimits } from '../../../kernel/unavailable.ts';
import { processesOfAttempt } from '../../../processes/end.ts';
import type { ObjectStores, StoreId } from '../../port.ts';
import type { TrustedDir } from '../../process.ts';
import { bring } from './bring.ts';
import { listStores, namesIn, storeFolder } from './layout.ts';

/** What this process has seen in each store, by its folder: most of it need not be looked at again. */
const seen = new Map<string, Set<string>>();

export function openStores(
  dir: TrustedDir,
  { onStep }: { readonly onStep?: (step: StoreStep) => void } = {},
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
    for (const name of namesIn(path.join(folder, 'new'))) chmodSync(path.join(folder, 'new', name), 0o700);
    const left = await bring(dir, folder, onStep && { onStep }).catch((error: unknown) => {
      if (isForced && isBeyondLimits(error)) return [];
      throw error;
    });
    if (left.length === 0 || isForced) {
      rmSync(path.join(folder, 'new'), { recursive: true, force: true });
      onStep?.('emptied');
      rmSync(folder, { recursive: true, force: true });
      seen.delete(folder);
    }
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

export const storeSteps = ['blobs', 'objects', 'synced', 'emptied'] as const;
type StoreStep = (typeof storeSteps)[number];

/** False when there is no store. For a reader that misses an object: an agent may have just written it. */
export async function bringAll(dir: TrustedDir): Promise<boolean> {
  const stores = listStores(dir.commonDir);
  for (const store of stores) {
    // A store that cannot be read is the problem of its own task.
    await bringNew(dir, store).catch(() => {});
  }
  return stores.length > 0;
}

async function bringNew(dir: TrustedDir, store: StoreId): Promise<void> {
  const folder = storeFolder(dir.commonDir, store);
  const known = seen.get(folder) ?? new Set<string>();
  seen.set(folder, known);
  await bring(dir, folder, { known });
}
