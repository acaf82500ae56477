/** What needs a person, as lines of the page. */

import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

import { useAnswer } from '../../store/hooks.tsx';
import { allRows } from './rows.ts';
import { isHidden } from './sending.ts';
import { useHolding, useTabMap } from './use-holding.ts';

export function useNeeds() {
  const asked = useAnswer('inbox.list', {}, { about: ['task', 'session', 'landing', 'queue'] });
  const holding = useHolding();
  const answers = useSyncExternalStore(
    (listener) => holding.subscribe(listener),
    () => holding.answers,
  );
  const fields = useTabMap(holding.fields);
  const order = useRef<readonly string[]>([]);
  const { data, error, isFetching, isFetchedAfterMount, isStale } = asked;
  const all = useMemo(
    () => allRows({ listed: data?.needsYou ?? [], order: order.current, fields }),
    [data, fields],
  );
  useEffect(() => {
    order.current = all.map(({ key }) => key);
  }, [all]);
  const listedAtMs = data === undefined ? 0 : Date.parse(data.at);
  const rows = useMemo(
    () => all.filter(({ key }) => !isHidden(answers, key, listedAtMs)),
    [all, answers, listedAtMs],
  );
  const isCurrent = !isFetching && error === null && (isFetchedAfterMount || !isStale);
  return { asked, rows, isCurrent };
}
