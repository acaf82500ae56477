/** What needs a person, in an order that stays: what comes meanwhile is appended, so that nothing moves under a hand. */

import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

import { keyOf } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { useAnswer, useDesk } from '../../store/hooks.tsx';
import type { Need } from './answering.ts';
import { type Holding, holdingOf } from './holding.ts';

export interface KeyedNeed {
  readonly key: string;
  readonly need: Need;
}

export function useHolding(): Holding {
  return holdingOf(useDesk().client);
}

export function useNeeds() {
  const asked = useAnswer('inbox.list', {}, { about: ['task', 'session', 'landing', 'queue'] });
  const holding = useHolding();
  const answered = useSyncExternalStore(
    (listener) => holding.subscribe(listener),
    () => holding.answered,
  );
  const order = useRef<readonly string[]>([]);
  const all = asked.data?.needsYou;
  const needs = useMemo(() => inOrder(all ?? [], order.current), [all]);
  useEffect(() => {
    order.current = needs.map(({ key }) => key);
  }, [needs]);
  const open = useMemo(() => needs.filter(({ key }) => !answered.has(key)), [needs, answered]);
  return { asked, needs: open };
}

function inOrder(needs: readonly Need[], order: readonly string[]): readonly KeyedNeed[] {
  const keyed = new Map(needs.map((need) => [keyOf(need), need]));
  const known = order.filter((key) => keyed.has(key));
  const isKnown = new Set(known);
  const keys = [...known, ...[...keyed.keys()].filter((key) => !isKnown.has(key))];
  return keys.flatMap((key) => {
    const need = keyed.get(key);
    return need ? [{ key, need }] : [];
  });
}
