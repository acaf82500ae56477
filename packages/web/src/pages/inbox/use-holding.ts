/** The answers that are held in this tab, and what ends that: the page is hidden, or closed. */

import { useSyncExternalStore } from 'react';

import type { Client } from '../../api/client.ts';
import { useDesk } from '../../store/hooks.tsx';
import { isReloading } from '../../shell/new-files.ts';
import { hasTypedText } from './fields.ts';
import { Holding } from './holding.ts';
import { keepFields, keptFields } from './kept-fields.ts';
import { isLostWithPage } from './sending.ts';
import type { TabMap } from './tab-map.ts';

export function useHolding(): Holding {
  return holdingOf(useDesk().client);
}

export function useTabMap<V>(map: TabMap<V>): ReadonlyMap<string, V> {
  return useSyncExternalStore(map.subscribe, () => map.now);
}

let holding: Holding | undefined;

/** One for the whole tab: an answer is held also while another page is open, and outlives the access it was given with. */
function holdingOf(client: Client): Holding {
  if (holding !== undefined) {
    holding.use(client);
    return holding;
  }
  const made = new Holding(client);
  holding = made;
  const storage = () => sessionStorage;
  made.fields.set(keptFields(storage));
  made.fields.subscribe(() => keepFields(made.fields.now, storage));
  addEventListener('pagehide', () => made.sendAll());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') made.sendAll();
  });
  addEventListener('beforeunload', (event) => {
    // The texts outlive a reload; an answer that the browser cannot send for a page that is gone does not.
    const hasText = !isReloading() && hasTypedText(made.fields.now);
    if (hasText || isLostWithPage(made.answers)) event.preventDefault();
  });
  return made;
}
