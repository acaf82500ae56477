/** What pages read: records of the live world, and answers of operations that are asked again when events concern them. */

import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type PropsWithChildren,
  createContext,
  use,
  useCallback,
  useEffect,
  useSyncExternalStore,
} from 'react';

import { type RecordKind, type World, kindOf } from '../../../copse/src/board/rules/event.ts';
import type { Client } from '../api/client.ts';
import type { InputOf, OperationName, OutputOf } from '../api/operations.ts';
import type { Problem } from '../api/problem.ts';
import type { Connection, Live } from './live.ts';

interface Desk {
  readonly client: Client;
  readonly live: Live;
}

const DeskContext = createContext<Desk | undefined>(undefined);

export function DeskProvider({ desk, children }: PropsWithChildren<{ readonly desk: Desk }>) {
  return <DeskContext value={desk}>{children}</DeskContext>;
}

export function useDesk(): Desk {
  const desk = use(DeskContext);
  if (desk === undefined) throw new Error('No desk above this component');
  return desk;
}

/** All records of a kind; a new map when one of them changed. */
export function useRecords<K extends RecordKind>(kind: K): World[K] {
  const { live } = useDesk();
  return useSyncExternalStore(
    useCallback((listener) => live.subscribe(listener), [live]),
    () => live.now.world[kind],
  );
}

export function useConnection(): Connection {
  const { live } = useDesk();
  return useSyncExternalStore(
    useCallback((listener) => live.subscribe(listener), [live]),
    () => live.connection,
  );
}

/** Whether the records are the board's, or not read yet. */
export function useIsRead(): boolean {
  const { live } = useDesk();
  return useSyncExternalStore(
    useCallback((listener) => live.subscribe(listener), [live]),
    () => live.isRead,
  );
}

export function useEventNumber(): number {
  const { live } = useDesk();
  return useSyncExternalStore(
    useCallback((listener) => live.subscribe(listener), [live]),
    () => live.now.at,
  );
}

export type Answer<N extends OperationName> = UseQueryResult<OutputOf<N>, Problem>;

/** What a page needs of an answer, whatever it is about. */
export type AnyAnswer = Pick<
  UseQueryResult<unknown, Problem>,
  'data' | 'error' | 'dataUpdatedAt' | 'refetch'
>;

/** The answer of an operation that reads. It is asked again after events about these kinds, at most twice a second. */
export function useAnswer<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  { about, task, isEnabled = true, mostEveryMs = ASK_AGAIN_MS, everyMs, read }: AnswerOptions<N>,
): Answer<N> {
  const { client, live } = useDesk();
  const queries = useQueryClient();
  const key = [name, input];
  const keyText = JSON.stringify(key);
  const aboutText = about.join(' ');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let { connection } = live;
    const stop = live.subscribe((events, isAnew) => {
      // What was asked for in vain is asked for again, and what changed without an event.
      const isBack = live.connection === 'live' && connection === 'away';
      ({ connection } = live);
      const concerns =
        isAnew ||
        isBack ||
        events.some(
          ({ event }) =>
            aboutText.split(' ').includes(kindOf(event)) &&
            (task === undefined || event.id === task || ('task' in event && event.task === task)),
        );
      if (!concerns || timer !== undefined) return;
      timer = setTimeout(askAgain, mostEveryMs);
    });
    // A hidden page asks once, when it is looked at again.
    const askAgain = () => {
      if (document.visibilityState === 'hidden') {
        document.addEventListener('visibilitychange', askAgain, { once: true });
        return;
      }
      timer = undefined;
      void queries.invalidateQueries({ queryKey: JSON.parse(keyText) as unknown[] });
    };
    return () => {
      stop();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', askAgain);
    };
  }, [live, queries, keyText, aboutText, task, mostEveryMs]);
  return useQuery<OutputOf<N>, Problem>({
    queryKey: key,
    queryFn: ({ signal }) => (read ? read(signal) : client.call(name, input, { signal })),
    enabled: isEnabled,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    placeholderData: (before) => before,
    // No component heard of the events that came while none showed it.
    staleTime: ({ state }) => (state.dataUpdatedAt > live.changedAtMs ? FRESH_MS : 0),
  });
}

interface AnswerOptions<N extends OperationName> {
  readonly about: readonly RecordKind[];
  /** Only events of this task. */
  readonly task?: string;
  readonly isEnabled?: boolean;
  /** At most once in this time, for answers that cost the server much. */
  readonly mostEveryMs?: number;
  /** Also without events: for what changes with time alone. */
  readonly everyMs?: number;
  /** An answer of several pages, read together. */
  readonly read?: (signal: AbortSignal) => Promise<OutputOf<N>>;
}

const ASK_AGAIN_MS = 500;
const FRESH_MS = 60_000;
