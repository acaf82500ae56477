/**
 * Issues on this machine, over HTTP: GitHub's, GitLab's and Linear's API as far as work items go. Tests file, label, edit and
 * close issues as people would, make the server fail as real ones do, and see every request that was sent.
 */

import { createHash } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';

import { afterAll } from 'vitest';

import { githubIssues } from './github.ts';
import { gitlabIssues } from './gitlab.ts';
import { linearIssues } from './linear.ts';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly status: number;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Issue {
  readonly number: number;
  title: string;
  body: string;
  readonly author: string;
  isClosed: boolean;
  readonly labels: Set<string>;
  readonly events: {
    readonly is: 'labeled' | 'unlabeled';
    readonly label: string;
    readonly by: string;
    readonly at: string;
  }[];
  /** When it was last labelled, or edited by `edit`. */
  updatedAt: string;
  readonly comments: { readonly id: number; readonly key: string; readonly author: string; text: string }[];
  /** Numbers of issues that come first, and of its parts. */
  readonly blockedBy: number[];
  readonly parts: number[];
}

export type Fault = Answer | 'hang up' | 'lose the answer' | undefined;

export class IssueServer {
  readonly kind: 'github' | 'gitlab' | 'linear';
  readonly issues: Issue[] = [];
  readonly requests: Request[] = [];
  /** For the next requests, in place of the real answers; an undefined one is the real one. */
  readonly instead: Fault[] = [];
  readonly token = 'tok-issues-0123456789';
  /** The login whose token it is. */
  readonly login = 'copse-bot';
  /** A real page has a hundred. */
  pageSize = 100;
  remaining = 4_999;
  address = '';
  #ids = 1_000;
  #seconds = 0;

  private constructor(kind: IssueServer['kind']) {
    this.kind = kind;
  }

  static async start(kind: IssueServer['kind']): Promise<IssueServer> {
    const server = new IssueServer(kind);
    const http = createServer((request, response) => void server.#serve(request, response));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const at = http.address();
    if (at === null || typeof at === 'string') throw new Error('The server has no port');
    server.address = `http://127.0.0.1:${at.port}/api`;
    afterAll(() => {
      http.closeAllConnections();
      http.close();
    });
    return server;
  }

  get env(): Readonly<Record<string, string>> {
    if (this.kind === 'linear') return { COPSE_LINEAR_API: this.address, COPSE_LINEAR_KEY: this.token };
    const token = this.kind === 'github' ? 'GITHUB_TOKEN' : 'GITLAB_TOKEN';
    return { COPSE_FORGE_API: this.address, [token]: this.token };
  }

  file(
    title: string,
    given: Partial<Pick<Issue, 'body' | 'author'>> & { readonly label?: string; readonly by?: string } = {},
  ): Issue {
    const { body = '', author = 'ann', label = 'copse', by = 'ann' } = given;
    const issue: Issue = {
      number: this.issues.length + 1,
      title,
      body,
      author,
      isClosed: false,
      labels: new Set(),
      events: [],
      updatedAt: this.#tick(),
      comments: [],
      blockedBy: [],
      parts: [],
    };
    this.issues.push(issue);
    if (label !== '') this.label(issue, label, by);
    return issue;
  }

  label(issue: Issue, label: string, by: string): void {
    issue.labels.add(label);
    issue.updatedAt = this.#tick();
    issue.events.push({ is: 'labeled', label, by, at: issue.updatedAt });
  }

  /** As a person does it in the browser: the time of the last change moves. */
  edit(issue: Issue, text: Partial<Pick<Issue, 'title' | 'body'>>): void {
    Object.assign(issue, text, { updatedAt: this.#tick() });
  }

  /** A second later than the last one. */
  #tick(): string {
    this.#seconds += 1;
    return new Date(Date.UTC(2026, 0, 1) + this.#seconds * 1_000).toISOString();
  }

  comment(issue: Issue, text: string, author = this.login, key = ''): { readonly id: number } {
    const comment = { id: (this.#ids += 1), key, author, text };
    issue.comments.push(comment);
    return comment;
  }

  get writes(): readonly Request[] {
    const isQuery = ({ body }: Request) => JSON.stringify(body['query'] ?? '').startsWith('"query');
    return this.requests.filter((request) => request.method !== 'GET' && !isQuery(request));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.address);
    const asked = {
      method: request.method ?? '',
      path: url.pathname.replace(/^\/api\//, ''),
      query: url.searchParams,
      headers: request.headers,
      body: (chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())) as Request['body'],
      status: 0,
    };
    const instead = this.instead.shift();
    const isLost = instead === 'hang up' || instead === 'lose the answer';
    const told = instead === undefined || instead === 'lose the answer' ? this.#answer(asked) : instead;
    const body = typeof told === 'string' ? '' : JSON.stringify(told.body);
    const etag = `W/"${createHash('sha256').update(body).digest('hex')}"`;
    const status =
      typeof told === 'string' || (told.status === 200 && asked.headers['if-none-match'] === etag)
        ? 304
        : told.status;
    this.requests.push({ ...asked, status: isLost ? 0 : status });
    if (isLost || typeof told === 'string') {
      request.socket.destroy();
      return;
    }
    const limits: Readonly<Record<string, string>> =
      this.kind === 'linear'
        ? {}
        : { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': String(this.remaining) };
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      etag,
      ...limits,
      ...told.headers,
    });
    response.end(status === 304 ? '' : body);
  }

  #answer(asked: Request): Answer {
    if (this.kind === 'linear') return linearIssues(this, asked);
    return this.kind === 'github' ? githubIssues(this, asked) : gitlabIssues(this, asked);
  }

  /** One page of a list, with the Link header that leads to the next. */
  page(asked: Request, all: readonly unknown[]): Answer {
    const page = Number(asked.query.get('page') ?? 1);
    const wanted = Math.min(Number(asked.query.get('per_page') ?? 30), this.pageSize);
    const body = all.slice((page - 1) * wanted, page * wanted);
    if (page * wanted >= all.length) return { status: 200, body };
    const query = new URLSearchParams([...asked.query].filter(([name]) => name !== 'page'));
    const link = (number: number, rel: string) =>
      `<https://api.example.invalid/elsewhere/${asked.path}?${query.toString()}&page=${number}>; rel="${rel}"`;
    return { status: 200, body, headers: { link: `${link(page + 1, 'next')}, ${link(99, 'last')}` } };
  }
}

/** Answers of real servers that are in trouble. */
export const faults = {
  primaryLimit: (resetSeconds: number): Answer => ({
    status: 403,
    body: {
      message: 'API rate limit exceeded for user ID 1.',
      documentation_url: 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api',
    },
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetSeconds) },
  }),
  secondaryLimit: (seconds: number): Answer => ({
    status: 429,
    body: {
      message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    },
    headers: { 'retry-after': String(seconds) },
  }),
  linearLimit: (resetMs: number): Answer => ({
    status: 400,
    body: { errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }] },
    headers: { 'x-ratelimit-requests-remaining': '0', 'x-ratelimit-requests-reset': String(resetMs) },
  }),
  badGateway: { status: 502, body: { message: 'Server Error' } } as Answer,
} as const;
