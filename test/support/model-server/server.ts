/**
 * A model that does what a test tells it to, for the real agent programs.
 *
 * One server on loopback serves many sessions: the key of a session is in the base address that its program is given,
 * and every key has its own queue of steps. A request that offers tools takes the next step; one that offers none (a
 * title, a summary) is answered beside the script; after the last step the model ends its turn. Every request is kept,
 * so that a test can see what the agent was told.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import type { Body, ModelRequest, Protocol, Reply, Step } from './protocol.ts';
import { responses } from './responses.ts';
import { send, sendJson } from './sending.ts';

export interface ModelServer {
  /** The base address for the program of one session. */
  url(key: string): string;
  /** Adds steps to the session's queue. */
  script(key: string, steps: readonly Step[]): void;
  /** How many steps were not requested yet. */
  left(key: string): number;
  /** Every request of the session, oldest first. */
  requests(key: string): readonly ModelRequest[];
  /** Those that took a step, or found the script at its end. */
  turns(key: string): readonly ModelRequest[];
  /** Hosts that programs wanted to reach through this server as their proxy; none of them was. */
  outside(): readonly string[];
  close(): Promise<void>;
}

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, chat, gemini];
const END_OF_SCRIPT: Reply = { text: 'Done.' };
const ASIDE: Reply = { text: 'Scripted work' };

export async function startModelServer(): Promise<ModelServer> {
  const steps = new Map<string, Step[]>();
  const requests = new Map<string, ModelRequest[]>();
  const closing = new AbortController();
  const outside: string[] = [];
  let answers = 0;

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A step that throws is a mistake in a test: the program is told, so that its output shows it.
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { type: 'invalid_request_error', message: String(error) } });
    });
  });
  server.on('connect', ({ url }, socket) => {
    outside.push(url ?? '');
    socket.on('error', () => {}).end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, key, path] = /^\/s\/([^/?]+)(.*)$/.exec(incoming.url ?? '') ?? [];
    if (key === undefined || path === undefined) {
      if (/^https?:/.test(incoming.url ?? '')) outside.push(incoming.url ?? '');
      return sendJson(response, 404, { error: 'no session key' });
    }
    const body = parse(await text(incoming));
    const method = incoming.method ?? 'GET';
    const bare = path.replace(/\?.*$/, '');
    const protocol = method === 'POST' ? PROTOCOLS.find((candidate) => candidate.path.test(bare)) : undefined;
    const tools = protocol?.offered(body) ?? [];
    const request: ModelRequest = {
      kind: protocol === undefined ? 'other' : tools.length > 0 ? 'turn' : 'aside',
      protocol: protocol?.name ?? null,
      method,
      path,
      headers: incoming.headers,
      body,
      tools,
      conversation: protocol?.conversation(body) ?? [],
      at: new Date(),
    };
    listIn(requests, key).push(request);
    if (protocol === undefined) return answerOther(request, bare, response);
    const step = request.kind === 'aside' ? ASIDE : (listIn(steps, key).shift() ?? END_OF_SCRIPT);
    const reply = typeof step === 'function' ? await step(request) : step;
    answers += 1;
    await send(reply, { protocol, request, response, id: `${answers}`, signal: closing.signal });
  }

  return {
    url: (key) => `http://127.0.0.1:${port}/s/${key}`,
    script: (key, added) => void listIn(steps, key).push(...added),
    left: (key) => listIn(steps, key).length,
    requests: (key) => [...listIn(requests, key)],
    turns: (key) => listIn(requests, key).filter(({ kind }) => kind === 'turn'),
    outside: () => [...outside],
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answerOther(request: ModelRequest, path: string, response: ServerResponse): void {
  const { method, body } = request;
  const found = PROTOCOLS.map((protocol) => protocol.aside?.(method, path, body)).find(
    (value) => value !== undefined,
  );
  if (found !== undefined) return sendJson(response, 200, found);
  // Claude asks by HEAD whether its model can be reached.
  if (method === 'HEAD' || path === '' || path === '/') return void response.writeHead(200).end();
  sendJson(response, 404, { error: { type: 'not_found_error', message: `nothing is scripted for ${path}` } });
}

function parse(body: string): Body {
  return body === '' ? {} : (JSON.parse(body) as Body);
}

function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}
