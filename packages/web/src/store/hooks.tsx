/** What pages read: records of the live world, and answers of operations that are asked again when events concern them. */

import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { type PropsWithChildren, createContext, use, useEffect, useSyncExternalStore } from 'react';

import {
  type AnyRecord,
  type BoardEvent,
  type RecordKind,
  type World,
  kindOf,
} from '../../../copse/src/board/rules/event.ts';
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

function useLive<T>(read: (live: Live) => T): T {
  const { live } = useDesk();
  return useSyncExternalStore(live.subscribe, () => read(live));
}

/** All records of a kind; a new map when one of them changed. */
export function useRecords<K extends RecordKind>(kind: K): World[K] {
  return useLive(({ now }) => now.world[kind]);
}

export function useConnection(): Connection {
  return useLive(({ connection }) => connection);
}

/** Whether the records are the board's, or not read yet. */
export function useIsRead(): boolean {
  return useLive(({ isRead }) => isRead);
}

export function useEventNumber(): number {
  return useLive(({ now }) => now.at);
}

export type Answer<N extends OperationName> = UseQueryResult<OutputOf<N>, Problem>;

/** What a page needs of an answer, whatever it is about. */
export type AnyAnswer = Pick<
  UseQueryResult<unknown, Problem>,
  'data' | 'error' | 'dataUpdatedAt' | 'refetch'
>;

/**
 * The answer of an operation that reads. It is asked again after events that concern it, at most twice a second. One question at a
 * time: a slow answer is waited for, and then asked for again if something happened since its question was sent.
 */
export function useAnswer<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  options: AnswerOptions<N>,
): Answer<N> {
  const {
    about,
    task,
    aboutAny = NONE,
    isEnabled = true,
    mostEveryMs = ASK_AGAIN_MS,
    everyMs,
    read,
  } = options;
  const { client, live } = useDesk();
  const queries = useQueryClient();
  const key = [name, input];
  const keyText = JSON.stringify(key);
  const aboutText = about.join(' ');
  const anyText = aboutAny.join(' ');
  useEffect(() => {
    if (!isEnabled) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    let isOver = false;
    let changedAt = 0;
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
            anyText.split(' ').includes(kindOf(event)) ||
            (aboutText.split(' ').includes(kindOf(event)) &&
              (task === undefined || mayBeOf(task, event, live.now.world))),
        );
      if (!concerns) return;
      changedAt = nextTurn();
      askSoon();
    });
    const askSoon = () => {
      if (!isAsking) timer ??= setTimeout(() => void askAgain(), mostEveryMs);
    };
    // A hidden page asks once, when it is looked at again.
    const askWhenSeen = () => void askAgain();
    const askAgain = async () => {
      if (document.visibilityState === 'hidden') {
        document.addEventListener('visibilitychange', askWhenSeen, { once: true });
        return;
      }
      timer = undefined;
      isAsking = true;
      const queryKey = JSON.parse(keyText) as unknown[];
      await queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
      isAsking = false;
      if (!isOver && changedAt > (askedAt.get(keyText) ?? 0)) askSoon();
    };
    return () => {
      isOver = true;
      stop();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', askWhenSeen);
    };
  }, [live, queries, keyText, aboutText, anyText, task, isEnabled, mostEveryMs]);
  return useQuery<OutputOf<N>, Problem>({
    queryKey: key,
    queryFn: ({ signal }) => {
      askedAt.set(keyText, nextTurn());
      return read ? read(signal) : client.call(name, input, { signal });
    },
    enabled: isEnabled,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    placeholderData: (before) => before,
    // No component heard of the events that came while none showed it.
    staleTime: ({ state }) => (state.dataUpdatedAt > live.changedAtMs ? FRESH_MS : 0),
  });
}

interface AnswerOptions<N extends OperationName> {
  readonly about: readonly RecordKind[];
  /** Of `about`, only events of this task. */
  readonly task?: string;
  /** Also events of these kinds, whatever task they are of. */
  readonly aboutAny?: readonly RecordKind[];
  readonly isEnabled?: boolean;
  /** At most once in this time, for answers that cost the server much. */
  readonly mostEveryMs?: number;
  /** Also without events: for what changes with time alone. */
  readonly everyMs?: number;
  /** An answer of several pages, read together. */
  readonly read?: (signal: AbortSignal) => Promise<OutputOf<N>>;
}

/** Most events do not name their task, but their record does. One whose record this page does not have may be of any task. */
function mayBeOf(task: string, event: BoardEvent, world: World): boolean {
  const kind = kindOf(event);
  if (kind === 'task') return event.id === task;
  const record: AnyRecord | undefined = world[kind].get(event.id);
  const of = record ?? event;
  return !('task' in of) || of.task === task;
}

/** When the last question of each answer was sent, in turns of `nextTurn`. */
const askedAt = new Map<string, number>();
let turn = 0;

/** Events and questions in their order; two of them can fall into one millisecond. */
function nextTurn(): number {
  turn += 1;
  return turn;
}

const NONE: readonly RecordKind[] = [];
const ASK_AGAIN_MS = 500;
const FRESH_MS = 60_000;
