/**
 * Events as Server-Sent Events. An event of the board has no name and its cursor as id, so that a browser resumes with
 * Last-Event-ID; `lost` and `slow` have names; comments are signs of life.
 */

import type { ServerResponse } from 'node:http';

import type { StreamStart, Feed, StreamNews } from './feed.ts';
import { type StreamClient, inTime, tellEvents } from './tell.ts';
import { type Cursor, cursorText } from '../../board/rules/term.ts';
import type { Policy } from '../../kernel/policy.ts';

export async function streamAsSse(
  feed: Feed,
  from: StreamStart,
  response: ServerResponse,
  { signal, limits }: { readonly signal: AbortSignal; readonly limits: Policy['server'] },
): Promise<'slow' | 'stopped'> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const client: StreamClient = {
    signal: AbortSignal.any([signal, gone.signal]),
    send: (told, at) =>
      inTime(limits.slowMs, client.signal, (done) => {
        if (response.write(sseText(told, at))) done();
        else response.once('drain', done);
      }),
    end(why) {
      response.end(why === 'slow' ? 'event: slow\ndata: {"slow":true}\n\n' : '');
      // One that does not read would keep the connection for ever.
      setTimeout(() => response.destroy(), limits.farewellMs).unref();
    },
  };
  // The head goes at once: a client knows that it is connected.
  response.write(': connected\n\n');
  return tellEvents(feed, from, client);
}

function sseText(told: StreamNews, at: Cursor): string {
  if (told.kind === 'quiet') return `: ${cursorText(at)}\n\n`;
  if (told.kind === 'lost')
    return `id: ${cursorText(told.cursor)}\nevent: lost\ndata: ${JSON.stringify({ lost: told.lost })}\n\n`;
  return told.events.map(({ cursor, json }) => `id: ${cursorText(cursor)}\ndata: ${json}\n\n`).join('');
}
