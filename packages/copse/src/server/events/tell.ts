/** Tells a client the events after its cursor, as fast as it takes them. A client that takes nothing for a while is let go. */

import type { Cursor } from '../../board/rules/term.ts';
import type { StreamStart, Feed, StreamNews } from './feed.ts';

export interface StreamClient {
  /** Resolves when the client's connection can take more. */
  send(told: StreamNews, at: Cursor): Promise<'taken' | 'slow'>;
  /** The last words, after which the connection is closed. */
  end(why: 'slow' | 'stopped'): void;
  /** Aborts when the client is gone, or the server stops. */
  readonly signal: AbortSignal;
}

export async function tellEvents(
  feed: Feed,
  { cursor: from, lost }: StreamStart,
  client: StreamClient,
): Promise<'slow' | 'stopped'> {
  let cursor = from;
  let told: StreamNews | undefined = lost === null ? undefined : { kind: 'lost', lost, cursor };
  while (!client.signal.aborted) {
    told ??= await feed.read(cursor, client.signal);
    if (client.signal.aborted) break;
    if ((await client.send(told, cursor)) === 'slow') {
      client.end('slow');
      return 'slow';
    }
    if (told.kind === 'lost') ({ cursor } = told);
    if (told.kind === 'events') cursor = told.events.at(-1)?.cursor ?? cursor;
    told = undefined;
  }
  client.end('stopped');
  return 'stopped';
}

/** Whether something happens in time; it is told by calling `done`. */
export function inTime(
  ms: number,
  signal: AbortSignal,
  start: (done: () => void) => void,
): Promise<'taken' | 'slow'> {
  return new Promise((resolve) => {
    const end = (what: 'taken' | 'slow') => {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
      resolve(what);
    };
    const gone = () => end('taken');
    const timer = setTimeout(() => end('slow'), ms);
    signal.addEventListener('abort', gone);
    start(() => end('taken'));
  });
}
