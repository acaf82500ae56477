/** The answers that are held in this tab, and what ends that: the page is hidden, or closed. */

import { useSyncExternalStore } from 'react';

import type { Client } from '../../api/client.ts';
import { useDesk } from '../../store/hooks.tsx';
import { Holding } from './holding.ts';
import { isLostWithPage } from './sending.ts';
import type { TabMap } from './tab-map.ts';

export function useHolding(): Holding {
  return holdingOf(useDesk().client);
}

export function useTabMap<V>(map: TabMap<V>): ReadonlyMap<string, V> {
  return useSyncExternalStore(map.subscribe, () => map.now);
}

const holdings = new WeakMap<Client, Holding>();

/** One for the whole tab: an answer is held also while another page is open. */
function holdingOf(client: Client): Holding {
  const known = holdings.get(client);
  if (known) return known;
  const made = new Holding(client);
  holdings.set(client, made);
  addEventListener('pagehide', () => made.sendAll());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') made.sendAll();
  });
  addEventListener('beforeunload', (event) => {
    if (isLostWithPage(made.answers)) event.preventDefault();
  });
  return made;
}
