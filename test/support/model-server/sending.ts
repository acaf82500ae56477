/** Sends one reply: late, as an error, in parts, whole, or broken off. */

import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { type ModelRequest, type Protocol, type Reply, type ServerSentEvent, textIn } from './protocol.ts';

export interface Exchange {
  readonly protocol: Protocol;
  readonly request: ModelRequest;
  readonly response: ServerResponse;
  readonly id: string;
  readonly signal: AbortSignal;
}

export async function send(
  reply: Reply,
  { protocol, request, response, id, signal }: Exchange,
): Promise<void> {
  if (reply.delayMs !== undefined) await wait(reply.delayMs, undefined, { signal }).catch(() => {});
  if (response.destroyed) return;
  if (reply.failure !== undefined) {
    const { status, headers } = reply.failure;
    return sendJson(response, status, protocol.failed(reply.failure), headers);
  }
  const { path, body } = request;
  const answer = {
    text: reply.text ?? '',
    calls: reply.calls ?? [],
    usage: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, ...reply.usage },
    model: textIn(body, 'model') || 'scripted',
    id,
  };
  if (!protocol.isStreamed(body, path)) {
    return reply.isDropped === true
      ? void response.destroy()
      : sendJson(response, 200, protocol.whole(answer));
  }
  const events = protocol.events(answer);
  const sent = reply.isDropped === true ? events.slice(0, Math.ceil(events.length / 2)) : events;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const lines = sent.map(eventLines).join('');
  if (reply.isDropped === true) response.write(lines, () => response.destroy());
  else response.end(lines);
}

function eventLines({ event, data }: ServerSentEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
