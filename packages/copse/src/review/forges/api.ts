/**
 * Requests to a JSON API, and the meaning of its refusals. Messages about failures never contain a header, a query or a body of
 * the request, because some hold a token. Errors of `fetch`, which quote addresses, are reported by their code only.
 */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import type { ForgeProblem } from '../port.ts';
import { whyUnreachable } from '../../kernel/system/post-json.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Relative, with its query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The ETag of an earlier answer: an unchanged answer is not sent again. */
  readonly etag?: string | undefined;
}

export type ApiAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly header: (name: string) => string | null;
      readonly body: unknown;
    }
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Access to an API. Never rejects. */
export interface Api {
  /** For people: the host, and the program if one is used. */
  readonly name: string;
  ask(question: ApiRequest): Promise<ApiAnswer>;
}

export interface FetchOptions {
  readonly base: URL;
  /** The secret in the headers; removed from answers, which may quote it. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export function fetchApi({ base, secret, headers, timeoutMs }: FetchOptions): Api {
  return {
    name: base.host,
    async ask({ method, path, body, etag }) {
      try {
        const response = await fetch(`${base.href.replace(/\/$/, '')}/${path}`, {
          method,
          headers: {
            'user-agent': 'copse',
            ...headers,
            ...(etag !== undefined && { 'if-none-match': etag }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          // A redirect must not carry the token to another host.
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        });
        const text = (await response.text()).replaceAll(secret, '…');
        return {
          kind: 'answered',
          status: response.status,
          header: (name) => response.headers.get(name),
          body: parsed(text),
        };
      } catch (error) {
        return { kind: 'unreachable', reason: whyUnreachable(error, timeoutMs) };
      }
    },
  };
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** The problem in an answer; undefined for a success. */
export function problemIn(api: Api, answer: ApiAnswer, now: Timestamp): ForgeProblem | undefined {
  if (answer.kind !== 'answered') return problem('unreachable', `${api.name}: ${answer.reason}.`);
  const { status, header } = answer;
  if (status < 300 || status === 304) return undefined;
  const said = messageOf(answer.body);
  const told = said === '' ? `it answered ${status}` : `${said} (${status})`;
  const sentence = `${api.name}: ${told}.`;
  const until = limitEnds(header, now);
  const isLimit = header('x-ratelimit-remaining') === '0' || /rate limit/i.test(said);
  if (status === 429 || (status === 403 && (isLimit || header('retry-after') !== null)))
    return { because: 'rate_limited', reason: sentence, until };
  if (status === 401 || status === 403) return problem('not_authorised', sentence);
  if (status === 404) return problem('not_found', `${api.name}: ${told}, or the token has no access.`);
  return problem(status >= 500 || status < 400 ? 'unreachable' : 'refused', sentence);
}

function problem(because: ForgeProblem['because'], reason: string): ForgeProblem {
  return { because, reason, until: null };
}

/** The headers have seconds from now, or an epoch time. */
function limitEnds(header: (name: string) => string | null, now: Timestamp): Timestamp | null {
  const after = Number(header('retry-after') ?? Number.NaN);
  if (Number.isFinite(after)) return timestamp(now + after * 1_000);
  const reset = Number(header('x-ratelimit-reset') ?? header('ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(reset) ? timestamp(reset * 1_000) : null;
}

const MOST_SAID = 300;

/** GitHub: `message` and `errors`. GitLab: `message` or `error`, as a text, a list or a map of lists. */
export function messageOf(body: unknown): string {
  const { message, error, errors } = fieldsOf(body);
  const details = Array.isArray(errors) ? errors.map((one) => textOf(fieldsOf(one)['message'] ?? one)) : [];
  const said = [textOf(message ?? error), ...details].filter((text) => text !== '').join(': ');
  return shown(said.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '')).slice(0, MOST_SAID);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join(', ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, inner]) => `${name} ${textOf(inner)}`.trim())
    .join(', ');
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function stringIn(value: unknown, name: string): string | undefined {
  const found = fieldsOf(value)[name];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberIn(value: unknown, name: string): number | undefined {
  const found = fieldsOf(value)[name];
  return typeof found === 'number' ? found : undefined;
}
