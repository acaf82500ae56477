/**
 * The same events over a WebSocket: a text frame for each, `{"lost": …}` and signs of life as `{"at": "1:42"}`. Frames of the
 * client are read and ignored. Close codes: 1001 the server stops, 4008 the client was too slow.
 */

import type { WebSocket } from 'ws';

import { closeCodes } from './close-codes.ts';
import type { StreamStart, Feed, StreamNews } from './feed.ts';
import { type StreamClient, inTime, tellEvents } from './tell.ts';
import { type Cursor, cursorText } from '../../board/rules/term.ts';
import type { Policy } from '../../kernel/policy.ts';

export async function streamAsFrames(
  feed: Feed,
  from: StreamStart,
  socket: WebSocket,
  { signal, limits }: { readonly signal: AbortSignal; readonly limits: Policy['server'] },
): Promise<'slow' | 'stopped'> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const stopAsking = closeWhenSilent(socket, limits.heartbeatMs);
  const client: StreamClient = {
    signal: AbortSignal.any([signal, gone.signal]),
    send: (told, at) =>
      inTime(limits.slowMs, client.signal, (done) => {
        const frames = framesOf(told, at);
        for (const [index, frame] of frames.entries())
          socket.send(frame, index === frames.length - 1 ? () => done() : undefined);
      }),
    end(why) {
      stopAsking();
      if (why === 'slow')
        socket.close(closeCodes.tooMuch, 'slow: connect again with after=<the last cursor>');
      else socket.close(closeCodes.stopping, 'the server stops');
      setTimeout(() => socket.terminate(), limits.farewellMs).unref();
    },
  };
  return tellEvents(feed, from, client);
}

function framesOf(told: StreamNews, at: Cursor): readonly string[] {
  if (told.kind === 'quiet') return [JSON.stringify({ at: cursorText(at) })];
  if (told.kind === 'lost') return [JSON.stringify({ cursor: cursorText(told.cursor), lost: told.lost })];
  return told.events.map(({ json }) => json);
}

/** A client whose machine sleeps or is gone does not answer pings. */
export function closeWhenSilent(socket: WebSocket, everyMs: number): () => void {
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    socket.ping();
  }, everyMs);
  timer.unref();
  const stop = () => clearInterval(timer);
  socket.once('close', stop);
  return stop;
}
