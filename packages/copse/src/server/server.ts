/**
 * The server: every request and every upgrade passes, in this order, Host, Origin, Sec-Fetch-Site and the token; only then its
 * path is looked for. What a client sends never ends the process: every handler answers, and every socket has an error handler.
 */

import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { type WebSocket, WebSocketServer } from 'ws';

import type { SessionCaller } from '../agents/act/session-caller.ts';
import type { Board } from '../board/port.ts';
import { operations } from '../operations/registry.ts';
import type { Policy } from '../kernel/policy.ts';
import {
  type FileAnswer,
  type HttpAnswer,
  problemAnswer,
  rawAnswer,
  refusedAnswer,
  write,
} from './answer.ts';
import { operationRoutes } from './api/routes.ts';
import { beforeBody } from './body.ts';
import { explain } from './explain.ts';
import { exportRoute } from './export.ts';
import { closeCodes } from './events/close-codes.ts';
import { Feed } from './events/feed.ts';
import { streamAsFrames } from './events/socket.ts';
import type { KeptTokens } from './kept-tokens.ts';
import { ServerKeys } from './keys.ts';
import { mcpRoute } from './mcp/route.ts';
import { Once } from './once.ts';
import { OpenDoors, type Receive } from './open-doors.ts';
import { type OutputParts, Outputs } from './output/outputs.ts';
import {
  type Counts,
  type Route,
  type ServedParts,
  type WithAccess,
  answerOf,
  badCursor,
  cursorIn,
  ownRoutes,
  wrongTarget,
} from './routes.ts';
import { type Doors, bearerOf, bracketed, checkHead, doorsOf } from './rules/entry.ts';
import { OperationCounts } from './rules/metrics.ts';
import { problem } from './rules/problem.ts';
import { API, matchPath, parseTarget, targetProblem } from './rules/target.ts';
import { isPagePath } from './rules/web.ts';
import { Snapshots, liveRecords, viewedTasks } from './snapshot.ts';
import { WebFiles } from './web-files.ts';
import { whileOpen } from './while-open.ts';

export interface ServerOptions {
  readonly board: Board;
  readonly policy: Pick<Policy, 'board' | 'server' | 'terminals'>;
  readonly receive: Receive;
  /** Without it, the server shows no output of agents. */
  readonly output?: OutputParts;
  readonly withAccess: WithAccess;
  /** The session that holds its task with this token; undefined for any other text. Without it, no agent enters. */
  readonly sessionOf?: (token: string) => Promise<SessionCaller | undefined>;
  /** Of Copse. */
  readonly version: string;
  /** The files of the dashboard. */
  readonly webFolder: string;
  /** Tokens of pages that were given by a server of this port. Without it, they end with the server. */
  readonly keptFor?: (port: number, limits: Policy['server']) => KeptTokens;
  /** Where to listen. */
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** The names under which clients reach it, beside the hosts of a proxy. */
  readonly names: readonly string[];
  readonly proxied: readonly string[];
  /** Tells the person who runs it; with no secret in it. */
  readonly onProblem: (text: string) => void;
}

export interface RunningServer {
  readonly port: number;
  /** The address for people, without a path. */
  readonly url: string;
  readonly keys: ServerKeys;
  /** Rejects when the board cannot be followed any more. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export async function openServer(given: ServerOptions): Promise<RunningServer> {
  const options = { ...given, onProblem: neverFailing(given.onProblem) };
  const { board, policy } = options;
  const limits = policy.server;
  const stop = new AbortController();
  const counts: Counts = {
    landed: 0,
    crashed: 0,
    streams: 0,
    droppedSlow: 0,
    refused: 0,
    operations: new OperationCounts(),
  };
  const feed = await Feed.open(board, {
    policy,
    signal: stop.signal,
    onEvent: ({ event }) => {
      if (event.type === 'landing.landed') counts.landed += 1;
      if (event.type === 'task.crashed') counts.crashed += 1;
      outputs?.onEvent(event);
    },
  });
  const server = await httpServer(options, limits);
  const port = await listen(server, options);
  const { output: parts, onProblem } = options;
  // Only now: a server that found its port taken must not give back what is shown by another one.
  const outputs = parts && new Outputs({ board, parts, policy, signal: stop.signal, onProblem });
  const scheme = options.tls === null ? 'http' : 'https';
  const doors = doorsOf({ ...options, scheme, port });
  const [shownHost] = options.proxied;
  const url =
    shownHost === undefined
      ? `${scheme}://${bracketed(options.names[0] ?? options.host)}:${port}`
      : `https://${shownHost}`;
  const keys = new ServerKeys(limits, () => performance.now(), options.keptFor?.(port, limits));
  const serving: ServedParts = {
    board,
    feed,
    keys,
    limits,
    counts,
    snapshots: { tasks: new Snapshots(board, viewedTasks), records: new Snapshots(board, liveRecords) },
    withAccess: (work, asked) => options.withAccess(work, { ...asked, signal: stop.signal }),
    version: options.version,
    once: new Once(board, options.onProblem),
    onProblem: options.onProblem,
    mark: randomBytes(6).toString('hex'),
    url,
    connections: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    signal: stop.signal,
    outputs,
  };
  const entrance = new Entrance(serving, doors, options);
  entrance.attach(server);
  const ended = feed.follow();
  // The caller hears of it by `ended`.
  ended.catch(() => {});
  return {
    port,
    url,
    keys,
    ended,
    async close() {
      stop.abort();
      outputs?.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = setTimeout(() => {
        server.closeAllConnections();
        entrance.cut();
      }, limits.stopMs);
      server.closeIdleConnections();
      await Promise.all([closed, ended.catch(() => {})]);
      clearTimeout(timer);
      // The board is closed after this.
      await entrance.worked(limits.lastWorkMs);
    },
  };
}

async function httpServer({ tls }: ServerOptions, limits: Policy['server']): Promise<Server> {
  const options = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    insecureHTTPParser: false,
    // Any other offer, as HTTP/2 by curl, is ignored: the request is answered as it is.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  };
  const { createServer: createTlsServer } = tls === null ? {} : await import('node:https');
  const server =
    tls === null || createTlsServer === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.headersMs });
  server.maxConnections = limits.connections;
  return server;
}

/** Strangers cause remarks, too: one that cannot be told must not end the server. */
function neverFailing(tell: ServerOptions['onProblem']): ServerOptions['onProblem'] {
  return (text) => {
    try {
      tell(text);
    } catch {
      // There is no other place to tell it.
    }
  };
}

function listen(server: Server, { host, port }: ServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

class Entrance {
  readonly #serving: ServedParts;
  readonly #doors: Doors;
  readonly #open: OpenDoors;
  readonly #routes: readonly Route[] = [
    ...ownRoutes,
    exportRoute(),
    ...operationRoutes(operations),
    mcpRoute,
  ];
  readonly #sockets: WebSocketServer;
  readonly #onProblem: ServerOptions['onProblem'];
  readonly #sessionOf: NonNullable<ServerOptions['sessionOf']>;
  readonly #told = new Set<string>();
  readonly #working = new Set<Promise<unknown>>();
  /** How many requests of each connection have no answer yet. */
  readonly #unanswered = new WeakMap<Socket, number>();

  constructor(
    serving: ServedParts,
    doors: Doors,
    { receive, onProblem, sessionOf, webFolder }: ServerOptions,
  ) {
    this.#sessionOf = sessionOf ?? (() => Promise.resolve(undefined));
    this.#serving = serving;
    this.#doors = doors;
    this.#onProblem = onProblem;
    this.#open = new OpenDoors(serving.keys, receive, new WebFiles(webFolder), serving.limits, onProblem);
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: serving.limits.frameBytes,
    });
  }

  attach(server: Server): void {
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      if (this.#takes(request.socket, response)) void this.#handle(request, response);
    };
    server.on('request', handle);
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      beforeBody(request, () => response.writeContinue());
      handle(request, response);
    });
    // Node.js would answer before Host and token are looked at.
    server.on('checkExpectation', handle);
    server.on('upgrade', (request, socket, head) => {
      // A connection that breaks is no error of the server.
      socket.on('error', () => socket.destroy());
      void this.#upgrade(request, socket, head);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseRaw(error, socket));
    server.on('tlsClientError', (_: Error, socket: Duplex) => socket.destroy());
    server.on('error', (error) => this.#onProblem(`The server had a problem: ${error.message}`));
  }

  /** Node.js begins all requests that it finds in what a client sent, and keeps each in memory until the client read its answer. */
  #takes(socket: Socket, response: ServerResponse): boolean {
    const unanswered = (this.#unanswered.get(socket) ?? 0) + 1;
    if (unanswered > this.#serving.limits.pipelined) {
      socket.destroy();
      return false;
    }
    this.#unanswered.set(socket, unanswered);
    response.once('close', () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
    return true;
  }

  /** Ends the WebSockets that did not answer the farewell; the server no longer knows their connections. */
  cut(): void {
    for (const client of this.#sockets.clients) client.terminate();
  }

  /** Until the work of all requests has ended, whether their clients are there or not. */
  async worked(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, mostMs)));
    await Promise.race([Promise.allSettled(this.#working), late]);
    clearTimeout(timer);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy());
    const timer = setTimeout(() => {
      if (response.headersSent) response.destroy();
      else write(response, late());
    }, this.#serving.limits.requestMs);
    response.once('close', () => clearTimeout(timer));
    const work = this.#answer(request, response, () => clearTimeout(timer));
    this.#working.add(work);
    const answer = await work.finally(() => this.#working.delete(work));
    if (answer === undefined || response.writableEnded) return;
    if (answer === refusedAnswer) this.#serving.counts.refused += 1;
    // A body that was not read, and is too large to be thrown away, ends the connection.
    if (!request.complete && !isSmall(request, this.#serving.limits.bodyBytes))
      response.shouldKeepAlive = false;
    write(response, answer);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    onStream: () => void,
  ): Promise<HttpAnswer | FileAnswer | undefined> {
    try {
      if (!this.#mayPass(request)) return refusedAnswer;
      const { limits, keys } = this.#serving;
      const target = parseTarget(request.url ?? '', limits.targetLength);
      const open = target && (await this.#open.answer(request, target));
      if (open !== undefined) return open;
      const token = bearerOf(request.headersDistinct['authorization'] ?? []);
      const caller = keys.isToken(token) ? PERSON : token && (await this.#sessionOf(token));
      if (!caller) return refusedAnswer;
      if (this.#working.size > limits.working) return tooMuchWork();
      if (target === undefined) return wrongTarget(targetProblem(request.url ?? '', limits.targetLength));
      return await answerOf(this.#routes, this.#serving, { request, response, target, caller, onStream });
    } catch (error) {
      return this.#explain(error);
    }
  }

  #mayPass(request: IncomingMessage): boolean {
    const { host = [], origin = [], 'sec-fetch-site': fetchSite = [] } = request.headersDistinct;
    const isPageOpened = opensPage(request, this.#serving.limits.targetLength);
    const check = checkHead({ host, origin, fetchSite, isPageOpened }, this.#doors);
    if (check.kind === 'passed') return true;
    const { toldRefusals } = this.#serving.limits;
    const text = `Refused a request: its ${check.check} is ${JSON.stringify(check.given.slice(0, 100))}.`;
    if (this.#told.size < toldRefusals && !this.#told.has(text)) {
      this.#told.add(text);
      this.#onProblem(text);
    }
    return false;
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { keys, feed, limits, counts, signal, outputs } = this.#serving;
    try {
      const target = parseTarget(request.url ?? '', limits.targetLength);
      const segments = request.method === 'GET' ? (target?.segments ?? []) : [];
      const shown = matchPath(`${API}/tasks/{task}/output`, segments)?.['task'];
      const isKnown = shown !== undefined || matchPath(`${API}/stream`, segments) !== undefined;
      // The ticket is used up last: a request that may not enter must not end the ticket of another.
      const mayEnter = this.#mayPass(request) && isKnown && keys.useTicket(target?.query.get('ticket'));
      if (!mayEnter || target === undefined) {
        counts.refused += 1;
        endWith(socket, rawAnswer(refusedAnswer, 'Unauthorized'));
        return;
      }
      if (shown !== undefined) {
        this.#sockets.handleUpgrade(request, socket, head, (client) => {
          client.on('error', () => client.terminate());
          void this.#serveSocket(
            client,
            () => outputs?.show(client, shown, target.query) ?? noOutput(client),
          );
        });
        return;
      }
      const after = cursorIn(target);
      if (after === undefined) {
        endWith(socket, rawAnswer(badCursor(), 'Bad Request'));
        return;
      }
      const from = await whileOpen(feed.begin(after), socket, limits.requestMs);
      if (from === undefined) {
        endWith(socket, rawAnswer(late(), 'Service Unavailable'));
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (client) => {
        client.on('error', () => client.terminate());
        void this.#serveSocket(client, () => streamAsFrames(feed, from, client, { signal, limits }));
      });
    } catch (error) {
      endWith(socket, rawAnswer(this.#explain(error), 'Service Unavailable'));
    }
  }

  async #serveSocket(client: WebSocket, serve: () => Promise<'slow' | 'stopped'>): Promise<void> {
    const { counts } = this.#serving;
    counts.streams += 1;
    try {
      if ((await serve()) === 'slow') counts.droppedSlow += 1;
    } catch (error) {
      this.#explain(error);
      client.terminate();
    } finally {
      counts.streams -= 1;
    }
  }

  #explain(error: unknown): HttpAnswer {
    return explain(error, this.#onProblem);
  }
}

const PERSON = { kind: 'person' } as const;
function noOutput(client: WebSocket): Promise<'stopped'> {
  client.close(closeCodes.failed, 'this server shows no output');
  return Promise.resolve('stopped');
}

/** By a link or a redirect, as the whole of a tab: never as a frame, an image or data of another page. */
function opensPage({ method, url = '', headersDistinct }: IncomingMessage, mostLength: number): boolean {
  const isOnly = (name: string, value: string) => {
    const given = headersDistinct[name] ?? [];
    return given.length === 1 && given[0] === value;
  };
  const segments = parseTarget(url, mostLength)?.segments;
  return (
    method === 'GET' &&
    isOnly('sec-fetch-mode', 'navigate') &&
    isOnly('sec-fetch-dest', 'document') &&
    segments !== undefined &&
    isPagePath(segments)
  );
}

function late(): HttpAnswer {
  return problemAnswer(
    problem(
      'late',
      'There is no answer yet. The work goes on: look for its result.',
      'copse events --last 5',
    ),
    {
      connection: 'close',
    },
  );
}

function tooMuchWork(): HttpAnswer {
  const text =
    'Too many requests wait for their end, perhaps for the board. Nothing was done. Send it again.';
  return problemAnswer(problem('busy', text, 'copse doctor'), { 'retry-after': '10' });
}

function isSmall({ headers }: IncomingMessage, mostBytes: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= mostBytes;
}

/** Bytes that are no request, or come too slowly, or are too many. */
function refuseRaw({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const line =
    code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  endWith(socket, `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** A client that does not close its side would keep the connection for ever. */
function endWith(socket: Duplex, text: string): void {
  socket.end(text, () => socket.destroy());
}
