/** Answers, each with the headers that keep browsers from reading, framing, caching or guessing them. */

import type { ServerResponse } from 'node:http';

import { isKnownTag } from './rules/etag.ts';
import { type Problem, unauthorized } from './rules/problem.ts';
import type { FileType } from './rules/web.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly type: 'application/json' | 'application/problem+json' | 'text/plain; version=0.0.4' | 'text/plain';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file of the dashboard. */
export interface FileAnswer {
  readonly status: 200 | 304;
  readonly type: FileType;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function json(document: unknown, status = 200): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(document)}\n` };
}

export function problemAnswer(problem: Problem, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  const body = `${JSON.stringify(problem)}\n`;
  return { status: problem.status, type: 'application/problem+json', body, headers };
}

/** With its tag; without its body for a client that has it. */
export function taggedAnswer(answer: HttpAnswer, etag: string, ifNoneMatch: string | undefined): HttpAnswer {
  const tagged = { ...answer, headers: { ...answer.headers, etag } };
  return isKnownTag(ifNoneMatch, etag) ? { ...tagged, status: 304, body: '' } : tagged;
}

/** The same bytes for every request that may not enter. */
export const refusedAnswer: HttpAnswer = problemAnswer(unauthorized, { 'www-authenticate': 'Bearer' });

export function write(
  response: ServerResponse,
  { status, type, body, headers }: HttpAnswer | FileAnswer,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    ...SAFE_HEADERS,
    ...headers,
    ...(status === 304 ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }),
  });
  response.end(status === 304 ? '' : body);
}

/** For a connection that has no response object: an upgrade that is refused. */
export function rawAnswer({ status, type, body, headers }: HttpAnswer, title: string): string {
  const lines = Object.entries({
    ...SAFE_HEADERS,
    ...headers,
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${body}`;
}
