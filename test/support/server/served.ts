/** A real server on loopback with a board of its own, and clients that can send what browsers and attackers send. */

import { type IncomingHttpHeaders, request } from 'node:http';
import { type Socket, connect } from 'node:net';

import { WebSocket } from 'ws';

import type { Board } from '../../../packages/copse/src/board/port.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Policy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Receive } from '../../../packages/copse/src/server/open-doors.ts';
import type { WithAccess } from '../../../packages/copse/src/server/routes.ts';
import { type RunningServer, openServer } from '../../../packages/copse/src/server/server.ts';
import { type EngineName, newPlace } from '../board/boards.ts';

export interface Served extends AsyncDisposable {
  readonly server: RunningServer;
  readonly port: number;
  readonly board: Board;
  /** What the person at the terminal is told. */
  readonly problems: readonly string[];
}

export interface ServedOptions {
  readonly engine?: EngineName;
  readonly limits?: Partial<Policy['server']>;
  readonly receive?: (board: Board) => Receive;
  readonly withAccess?: (board: Board) => WithAccess;
  readonly proxied?: readonly string[];
  readonly webFolder?: string;
  readonly board?: (board: Board) => Board;
}

export async function newServed(options: ServedOptions = {}): Promise<Served> {
  const { engine = 'sqlite', limits = {}, receive, proxied = [] } = options;
  const place = await newPlace(engine);
  const opened = await place.open();
  const board = options.board?.(opened) ?? opened;
  const problems: string[] = [];
  const server = await openServer({
    version: '0.0.0',
    board,
    policy: { ...defaultPolicy, server: { ...defaultPolicy.server, ...limits } },
    receive: receive?.(board) ?? noTriggers,
    withAccess: options.withAccess?.(board) ?? noOperations,
    webFolder: options.webFolder ?? '/nowhere',
    host: '127.0.0.1',
    port: 0,
    tls: null,
    names: ['127.0.0.1', 'localhost'],
    proxied,
    onProblem: (text) => problems.push(text),
  });
  return {
    server,
    port: server.port,
    board,
    problems,
    async [Symbol.asyncDispose]() {
      await server.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** For tests that need no repository. */
const noOperations: WithAccess = () => Promise.reject(new Error('This test has no repository'));

const noTriggers: Receive = () => Promise.reject(new Error('This test has no triggers'));

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** False: without a token. */
  readonly token?: string | false;
}

/** A request of a program; `headers` may say what a browser would. */
export function ask({ server, port }: Served, path: string, asked: Asked = {}): Promise<Got> {
  const { method = 'GET', headers = {}, body, token = server.keys.token } = asked;
  const own = token === false ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { ...own, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends these bytes and nothing else; what came back when the server ends the connection. */
export function sendRaw(
  port: number,
  bytes: string,
): { readonly socket: Socket; readonly ended: Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  let got = '';
  socket.setEncoding('utf8').on('data', (text: string) => (got += text));
  socket.on('error', () => {});
  socket.write(bytes);
  return { socket, ended: new Promise((resolve) => socket.once('close', () => resolve(got))) };
}

export type Opened =
  | { readonly kind: 'open'; readonly socket: WebSocket; readonly frames: string[] }
  | { readonly kind: 'refused'; readonly status: number; readonly body: string };

export function openSocket(
  { port }: Served,
  query: string,
  headers: Readonly<Record<string, string>> = {},
  path = '/api/v1/stream',
): Promise<Opened> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}${query}`, { headers });
  const frames: string[] = [];
  socket.on('message', (data: Buffer) => frames.push(data.toString()));
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve({ kind: 'open', socket, frames }));
    socket.on('error', reject);
    socket.on('unexpected-response', (_, response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ kind: 'refused', status: response.statusCode ?? 0, body }));
    });
  });
}

export async function ticketOf(served: Served): Promise<string> {
  const { body } = await ask(served, '/api/v1/ticket', { method: 'POST' });
  return (JSON.parse(body) as { ticket: string }).ticket;
}
