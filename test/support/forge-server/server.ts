/**
 * A forge on this machine: the API of GitHub or of GitLab over HTTP, about a real bare repository. Tests open, review, merge and
 * close pull requests there as people would, make it fail as it really does, and see every question that was asked.
 */

import { createHash } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';

import { afterAll } from 'vitest';

import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { Pulls } from './pulls.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** The one that is accepted. */
  readonly token: string;
}

export interface Told {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ForgeOptions {
  readonly kind: 'github' | 'gitlab';
  readonly bare: string;
  readonly owner?: string;
  readonly name?: string;
}

export class ForgeServer {
  readonly pulls: Pulls;
  readonly token = 'tok-s3cr3t-0123456789';
  readonly asked: Asked[] = [];
  /** Answers to the next questions, in place of the real ones; an undefined one is the real one. */
  readonly instead: (Told | 'hang up' | 'lose the answer' | undefined)[] = [];
  /** Called before a question is answered. */
  onAsked: (asked: Asked) => void | Promise<void> = () => {};
  address = '';
  readonly #options: Required<ForgeOptions>;

  private constructor(options: ForgeOptions) {
    this.#options = { owner: 'octo', name: 'trees', ...options };
    this.pulls = new Pulls(options.bare);
  }

  static async start(options: ForgeOptions): Promise<ForgeServer> {
    const forge = new ForgeServer(options);
    const server = createServer((request, response) => void forge.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = server.address();
    if (at === null || typeof at === 'string') throw new Error('The forge has no port');
    forge.address = `http://127.0.0.1:${at.port}/api`;
    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });
    return forge;
  }

  /** What a program needs in its environment to reach it. */
  get environment(): Readonly<Record<string, string>> {
    const token = this.#options.kind === 'github' ? 'GITHUB_TOKEN' : 'GITLAB_TOKEN';
    return { COPSE_FORGE_API: this.address, [token]: this.token };
  }

  get page(): string {
    return `https://forge.example.invalid/${this.#options.owner}/${this.#options.name}`;
  }

  /** Questions that changed something. */
  get posts(): readonly Asked[] {
    return this.asked.filter(({ method }) => method === 'POST');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text: Buffer[] = [];
    for await (const chunk of request) text.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.address);
    const asked: Asked = {
      method: request.method ?? '',
      path: url.pathname.replace(/^\/api/, ''),
      query: url.searchParams,
      headers: request.headers,
      body: (text.length === 0 ? {} : JSON.parse(Buffer.concat(text).toString())) as Asked['body'],
      token: this.token,
    };
    this.asked.push(asked);
    await this.onAsked(asked);
    const instead = this.instead.shift();
    if (instead === 'hang up') {
      request.socket.destroy();
      return;
    }
    const told = instead === undefined || instead === 'lose the answer' ? this.#answer(asked) : instead;
    if (instead === 'lose the answer') {
      request.socket.destroy();
      return;
    }
    const body = typeof told.body === 'string' ? told.body : JSON.stringify(told.body);
    const etag = `W/"${createHash('sha256').update(body).digest('hex')}"`;
    const isSame = told.status === 200 && asked.headers['if-none-match'] === etag;
    const type = typeof told.body === 'string' ? 'text/html' : 'application/json; charset=utf-8';
    response.writeHead(isSame ? 304 : told.status, { 'content-type': type, etag, ...told.headers });
    response.end(isSame ? '' : body);
  }

  #answer(asked: Asked): Told {
    const { owner, name, kind } = this.#options;
    const place = { owner, name, page: this.page };
    return kind === 'github' ? github(this.pulls, place, asked) : gitlab(this.pulls, place, asked);
  }
}
