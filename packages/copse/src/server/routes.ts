/** The routes of the server itself. Every handler runs after the entry checks and the token. */

import type { IncomingMessage, ServerResponse } from 'node:http';

import type { SessionCaller } from '../agents/act/session-caller.ts';
import type { Board } from '../board/port.ts';
import type { KeyedRequest } from '../board/rules/keyed-request.ts';
import { parseCursor } from '../board/rules/term.ts';
import type { Policy } from '../kernel/policy.ts';
import type { Access } from '../operations/access.ts';
import { type HttpAnswer, SAFE_HEADERS, json, problemAnswer, taggedAnswer } from './answer.ts';
import type { Feed } from './events/feed.ts';
import { streamAsSse } from './events/sse.ts';
import type { ServerKeys } from './keys.ts';
import type { Once } from './once.ts';
import type { Outputs } from './output/outputs.ts';
import { type OperationCounts, metricsText } from './rules/metrics.ts';
import { problem } from './rules/problem.ts';
import { API, type RequestTarget, matchPath } from './rules/target.ts';
import type { Snapshots } from './snapshot.ts';

/** Who asks: the person with the token of the server, or an agent with that of its session. */
export type HttpCaller = { readonly kind: 'person' } | SessionCaller;

export interface Call {
  readonly caller: HttpCaller;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  /** From here on, the answer takes as long as the client likes. */
  readonly onStream: () => void;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface ServedParts {
  readonly board: Board;
  readonly feed: Feed;
  readonly keys: ServerKeys;
  readonly snapshots: { readonly tasks: Snapshots; readonly records: Snapshots };
  readonly limits: Policy['server'];
  readonly counts: Counts;
  /** Of this start: answers of another start are never taken for answers of this one. */
  readonly mark: string;
  /** Of Copse. */
  readonly version: string;
  readonly withAccess: WithAccess;
  readonly once: Once;
  readonly onProblem: (text: string) => void;
  readonly url: string;
  readonly connections: () => Promise<number>;
  readonly signal: AbortSignal;
  readonly outputs: Outputs | undefined;
}

export type WithAccess = <T>(work: (access: Access) => Promise<T>, asked?: AskedBy) => Promise<T>;

interface AskedBy {
  /** Its key, if it has one: every change of it uses the key. */
  readonly keyed?: KeyedRequest | undefined;
  /** Without it: the person. */
  readonly caller?: HttpCaller;
  /** Comes when the server stops. */
  readonly signal?: AbortSignal;
}

export interface Counts {
  landed: number;
  crashed: number;
  streams: number;
  droppedSlow: number;
  refused: number;
  readonly operations: OperationCounts;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Without it, only the person may ask. */
  readonly isForSessions?: boolean;
  /** It has no length, so HEAD is refused. */
  readonly isStream?: true;
  /** Undefined: the handler writes the response itself, for as long as it likes. */
  readonly answer: (serving: ServedParts, call: Call) => Promise<HttpAnswer | undefined>;
}

export const ownRoutes: readonly Route[] = [
  { method: 'GET', path: `${API}/snapshot`, answer: (serving, call) => snapshot(serving, call, 'tasks') },
  {
    method: 'GET',
    path: `${API}/snapshot/records`,
    answer: (serving, call) => snapshot(serving, call, 'records'),
  },
  { method: 'GET', path: `${API}/events`, isStream: true, answer: events },
  { method: 'POST', path: `${API}/ticket`, answer: ticket },
  { method: 'POST', path: `${API}/code`, answer: code },
  { method: 'GET', path: `${API}/openapi.json`, answer: openapi },
  { method: 'GET', path: '/metrics', answer: metrics },
];

export async function answerOf(
  routes: readonly Route[],
  serving: ServedParts,
  call: Omit<Call, 'parameters'>,
): Promise<HttpAnswer | undefined> {
  const { method } = call.request;
  // Node.js leaves the body of its answer out.
  const isHead = method === 'HEAD';
  const fitting = routes.flatMap((route) => {
    const parameters = matchPath(route.path, call.target.segments);
    return parameters === undefined ? [] : [{ route, parameters }];
  });
  // `/tasks/next` is no task of that name.
  const found = fitting
    .filter(({ route }) => route.method === method || (isHead && route.method === 'GET' && !route.isStream))
    .toSorted((a, b) => Object.keys(a.parameters).length - Object.keys(b.parameters).length)[0];
  if (found !== undefined && call.caller.kind === 'session' && !found.route.isForSessions)
    return notForSessions(call.caller);
  if (found !== undefined) return found.route.answer(serving, { ...call, parameters: found.parameters });
  if (fitting.length === 0) return noSuchPath();
  const allow = [...new Set(fitting.map(({ route }) => route.method))].join(', ');
  return problemAnswer(problem('method_not_allowed', `This path takes ${allow}.`, 'copse serve --help'), {
    allow,
  });
}

export function wrongTarget(why: string): HttpAnswer {
  return problemAnswer(problem('usage', why, 'copse serve --help'));
}

function notForSessions({ session }: SessionCaller): HttpAnswer {
  return problemAnswer(
    problem(
      'not_this_session',
      `Session ${session} may not use this path: agents may only read, add tasks and report about their own task.`,
      'copse stuck --reason "…" # to ask a person to do it',
    ),
  );
}

function noSuchPath(): HttpAnswer {
  return problemAnswer(problem('not_found', 'The server has no such path.', 'copse serve --help'));
}

async function snapshot(
  { snapshots, feed, mark }: ServedParts,
  { request }: Call,
  what: 'tasks' | 'records',
): Promise<HttpAnswer> {
  const { term } = feed.latest;
  const { at, json: body } = await snapshots[what].read(term);
  const etag = `"${mark}-${what}-${term}-${at}"`;
  const answer = { status: 200, type: 'application/json', body } as const;
  return taggedAnswer(answer, etag, request.headers['if-none-match']);
}

async function events(
  serving: ServedParts,
  { request, response, target, onStream }: Call,
): Promise<HttpAnswer | undefined> {
  const { feed, limits, signal, counts } = serving;
  const after = cursorIn(target, request.headers['last-event-id']);
  if (after === undefined) return badCursor();
  const from = await feed.begin(after);
  // Meanwhile it may have been answered: the board was away for too long.
  if (response.headersSent || response.destroyed) return undefined;
  onStream();
  response.writeHead(200, {
    ...SAFE_HEADERS,
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
  });
  counts.streams += 1;
  try {
    if ((await streamAsSse(feed, from, response, { signal, limits })) === 'slow') counts.droppedSlow += 1;
  } finally {
    counts.streams -= 1;
  }
  return undefined;
}

/** A browser that reconnects names the last event it got, which is later than the address says. */
export function cursorIn(
  { query }: RequestTarget,
  lastEventId?: string | readonly string[],
): ReturnType<typeof parseCursor> {
  const last = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
  return parseCursor(last ?? query.get('after') ?? '0');
}

export function badCursor(): HttpAnswer {
  return problemAnswer(
    problem(
      'invalid',
      'after must be an event number, or term:number as "cursor" in an event.',
      'copse events --last 1 --json',
    ),
  );
}

function ticket({ keys, limits }: ServedParts): Promise<HttpAnswer> {
  return Promise.resolve(json({ ticket: keys.newTicket(), expiresInMs: limits.ticketMs }, 201));
}

function code({ keys, limits, url }: ServedParts): Promise<HttpAnswer> {
  return Promise.resolve(json({ url: `${url}/#code=${keys.newCode()}`, expiresInMs: limits.codeMs }, 201));
}

async function openapi(_: ServedParts, { request }: Call): Promise<HttpAnswer> {
  const { servedOpenApi } = await import('./api/openapi.ts');
  const { body, etag } = await servedOpenApi();
  const answer = { status: 200, type: 'application/json', body } as const;
  return taggedAnswer(answer, etag, request.headers['if-none-match']);
}

async function metrics({ board, feed, counts, connections }: ServedParts): Promise<HttpAnswer> {
  const body = metricsText({
    ...counts,
    byStatus: await board.countByStatus(),
    queued: (await board.openLandings()).length,
    eventNumber: feed.latest.number,
    connections: await connections(),
  });
  return { status: 200, type: 'text/plain; version=0.0.4', body };
}
