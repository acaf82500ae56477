/**
 * Requests to the API of a source: one after another, writes at least a second apart, none before a rate limit ends. What did
 * not change is not sent again (ETag). Lists are followed by their Link header, with its query only: an answer cannot lead to
 * another host or path.
 */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import type { Timer } from '../../kernel/clock.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { type Api, type ApiAnswer, type ApiRequest, problemIn } from '../../review/forges/api.ts';
import type { SourceMemories, SourceProblem } from '../port.ts';
import { bounded, limitedUntil } from '../rules/limit.ts';

export type ApiAnswered = Extract<ApiAnswer, { kind: 'answered' }>;

/** A refusal that a later request would meet again, as for an item that is gone or locked. */
export interface ApiRefusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly reason: string;
  readonly body?: unknown;
}

export interface ApiLimit {
  readonly isRefused: boolean;
  readonly remaining: number;
  readonly until: Timestamp | null;
}

export interface PacedOptions {
  readonly source: string;
  readonly clock: Timer;
  readonly memories: SourceMemories;
  /** What an answer says about limits, where that is not in the usual headers. Undefined: nothing. */
  readonly limitIn?: (answer: ApiAnswered, now: Timestamp) => ApiLimit | undefined;
  /** The login may change: it is looked up for each request. */
  readonly api: () => Promise<Api | { readonly reason: string }>;
  /** Answers that are kept for their ETags; the oldest goes first. */
  readonly mostAnswers?: number;
}

const { writeApartMs, mostPages, limitedMs } = defaultPolicy.sources;

export class Paced {
  readonly #options: PacedOptions;
  readonly #before = new Map<string, { readonly etag: string; readonly answer: ApiAnswered }>();

  #mayWrite: () => Promise<boolean> = async () => true;

  constructor(options: PacedOptions) {
    this.#options = options;
  }

  /** Writes of the work are sent only while `mayWrite` says so. Requests are serial, so no other work goes on. */
  async guarded<T>(mayWrite: () => Promise<boolean>, work: () => Promise<T>): Promise<T> {
    this.#mayWrite = mayWrite;
    try {
      return await work();
    } finally {
      this.#mayWrite = async () => true;
    }
  }

  async get(path: string): Promise<ApiAnswered | ApiRefusal | SourceProblem> {
    const before = this.#before.get(path);
    const answer = await this.#ask({ method: 'GET', path, etag: before?.etag });
    if (answer.kind !== 'answered') return answer;
    if (answer.status === 304 && before !== undefined) return before.answer;
    const etag = answer.header('etag');
    if (answer.status === 200 && etag !== null) this.#keep(path, { etag, answer });
    return answer;
  }

  #keep(path: string, kept: { readonly etag: string; readonly answer: ApiAnswered }): void {
    const { mostAnswers = defaultPolicy.sources.mostAnswers } = this.#options;
    this.#before.delete(path);
    this.#before.set(path, kept);
    for (const oldest of this.#before.keys()) {
      if (this.#before.size <= mostAnswers) return;
      this.#before.delete(oldest);
    }
  }

  /** All pages of a list. */
  async list(
    path: string,
  ): Promise<{ readonly kind: 'listed'; readonly all: readonly unknown[] } | ApiRefusal | SourceProblem> {
    const all: unknown[] = [];
    const [place = ''] = path.split('?', 1);
    let next: string | undefined = path;
    for (let page = 0; next !== undefined && page < mostPages; page += 1) {
      const answer: ApiAnswered | ApiRefusal | SourceProblem = await this.get(next);
      if (answer.kind !== 'answered') return answer;
      if (!Array.isArray(answer.body)) return failed('The answer is not a list.');
      all.push(...(answer.body as readonly unknown[]));
      next = nextIn(answer.header('link'), place);
    }
    return next === undefined
      ? { kind: 'listed', all }
      : failed(`The list has more than ${mostPages} pages: use a label with fewer items.`);
  }

  /** A question of GraphQL, which is posted and changes nothing. */
  query(path: string, body: ApiRequest['body']): Promise<ApiAnswered | ApiRefusal | SourceProblem> {
    return this.#ask({ method: 'POST', path, ...(body && { body }) });
  }

  async write(
    method: Exclude<ApiRequest['method'], 'GET'>,
    path: string,
    body?: ApiRequest['body'],
  ): Promise<ApiAnswered | ApiRefusal | SourceProblem> {
    const { clock, memories } = this.#options;
    // By the wall clock, because another process may have written; a clock that jumps costs one wait.
    const sinceMs = clock.now() - (memories.wroteAt() ?? 0);
    if (sinceMs < writeApartMs) await clock.sleep(Math.min(writeApartMs, writeApartMs - sinceMs));
    if (!(await this.#mayWrite())) return failed('Another machine looks at the source now.');
    try {
      return await this.#ask({ method, path, ...(body && { body }) });
    } finally {
      memories.wrote(clock.now());
    }
  }

  async #ask(request: ApiRequest): Promise<ApiAnswered | ApiRefusal | SourceProblem> {
    const { source, clock, memories } = this.#options;
    const until = limitedUntil(memories.load(source).limit, clock.now());
    if (until !== null) return failed('its rate limit has not ended.', until);
    const api = await this.#options.api();
    if ('reason' in api) return failed(api.reason);
    const answer = await api.ask(request);
    const problem = problemIn(api, answer, clock.now());
    const own = answer.kind === 'answered' ? this.#options.limitIn?.(answer, clock.now()) : undefined;
    const ownEnd = own?.until == null ? null : bounded(own.until, clock.now());
    if (own !== undefined) memories.save(source, { limit: { remaining: own.remaining, until: ownEnd } });
    if (own?.isRefused) return failed(`${api.name}: rate limit exceeded.`, ownEnd);
    if (problem?.because === 'rate_limited') {
      const ends = bounded(problem.until ?? timestamp(clock.now() + limitedMs), clock.now());
      memories.save(source, { limit: { remaining: 0, until: ends } });
      return failed(problem.reason, ends);
    }
    if (answer.kind === 'answered') this.#rememberLimit(answer);
    if (problem === undefined && answer.kind === 'answered') return answer;
    const reason = problem?.reason ?? `${api.name}: no answer.`;
    const isLasting = problem?.because === 'refused' || problem?.because === 'not_found';
    if (answer.kind === 'answered' && (isLasting || LASTING.has(answer.status)))
      return { kind: 'refused', status: answer.status, reason, body: answer.body };
    return failed(reason);
  }

  /** The last request of a window is answered; the next one would not be. */
  #rememberLimit({ header }: ApiAnswered): void {
    const { source, memories, clock } = this.#options;
    const said = header('x-ratelimit-remaining') ?? header('ratelimit-remaining');
    const remaining = Number(said ?? Number.NaN);
    if (!Number.isFinite(remaining)) return;
    const reset = Number(header('x-ratelimit-reset') ?? header('ratelimit-reset') ?? Number.NaN);
    const isOver = remaining === 0 && Number.isFinite(reset);
    const until = isOver ? bounded(timestamp(reset * 1_000), clock.now()) : null;
    const before = memories.load(source).limit;
    if (before?.remaining === remaining && before.until === until) return;
    memories.save(source, {
      limit: { remaining, until: until !== null && until > clock.now() ? until : null },
    });
  }
}

/** Moved, forbidden for this item, gone. */
const LASTING: ReadonlySet<number> = new Set([301, 403, 404, 410, 422]);

function nextIn(link: string | null, place: string): string | undefined {
  const [, address = ''] = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(link ?? '') ?? [];
  const query = address.indexOf('?');
  return query === -1 ? undefined : `${place}${address.slice(query)}`;
}

export function failed(reason: string, until: Timestamp | null = null): SourceProblem {
  return { kind: 'failed', reason, until };
}
