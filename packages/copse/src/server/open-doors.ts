/** The paths that need no token: a sign of life, the files of the dashboard, the way in with a code, and requests that triggers verify. */

import type { IncomingMessage } from 'node:http';

import { sizeText } from '../explain/rules/amounts.ts';
import type { Outcome } from '../board/context.ts';
import type { Received } from '../intake/act/triggers.ts';
import { type TriggerRequest, hasSignature } from '../intake/rules/trigger.ts';
import type { Policy } from '../kernel/policy.ts';
import { type FileAnswer, type HttpAnswer, json, problemAnswer, refusedAnswer } from './answer.ts';
import { readBody } from './body.ts';
import type { ServerKeys } from './keys.ts';
import { problem } from './rules/problem.ts';
import { API, type RequestTarget, matchPath } from './rules/target.ts';
import type { WebFiles } from './web-files.ts';

export type Receive = (name: string, request: TriggerRequest) => Promise<Outcome<Received>>;

export class OpenDoors {
  readonly #keys: ServerKeys;
  readonly #receive: Receive;
  readonly #limits: Policy['server'];
  readonly #web: WebFiles;
  readonly #onProblem: (text: string) => void;
  #bodies = 0;

  constructor(
    keys: ServerKeys,
    receive: Receive,
    web: WebFiles,
    limits: Policy['server'],
    onProblem: (text: string) => void,
  ) {
    this.#keys = keys;
    this.#web = web;
    this.#receive = receive;
    this.#limits = limits;
    this.#onProblem = onProblem;
  }

  /** Undefined: this request needs a token. */
  async answer(
    request: IncomingMessage,
    { segments }: RequestTarget,
  ): Promise<HttpAnswer | FileAnswer | undefined> {
    const { method } = request;
    if ((method === 'GET' || method === 'HEAD') && matchPath('/healthz', segments))
      return { status: 200, type: 'text/plain', body: 'ok\n' };
    if (method === 'GET') return this.#web.answer(segments, request.headers['if-none-match']);
    if (method !== 'POST') return undefined;
    // Not among the bodies of strangers: they must not keep the person out.
    if (matchPath(`${API}/enter`, segments)) return this.#enter(request);
    const name = matchPath('/triggers/{name}', segments)?.['name'];
    if (name === undefined) return undefined;
    const headers = singleHeaders(request);
    return hasSignature(headers) ? this.#holding(() => this.#trigger(name, request, headers)) : refusedAnswer;
  }

  /** Bodies of senders that are not known yet: few at a time, because they are in memory. */
  async #holding(answer: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    if (this.#bodies >= this.#limits.unverifiedBodies)
      return problemAnswer(problem('busy', 'Too many requests at once. Send it again.'), {
        'retry-after': '1',
      });
    this.#bodies += 1;
    try {
      return await answer();
    } finally {
      this.#bodies -= 1;
    }
  }

  async #enter(request: IncomingMessage): Promise<HttpAnswer> {
    const body = await readBody(request, this.#limits.codeBytes);
    const code = body.kind === 'read' ? codeIn(body.bytes) : undefined;
    const token = this.#keys.enter(code ?? '');
    if (token !== undefined) return json({ token });
    if (code !== undefined && this.#keys.endWithServerIfUsed(code)) this.#onProblem(USED_AGAIN);
    return refusedAnswer;
  }

  async #trigger(
    name: string,
    request: IncomingMessage,
    headers: TriggerRequest['headers'],
  ): Promise<HttpAnswer> {
    const body = await readBody(request, this.#limits.bodyBytes, this.#limits.unverifiedMs);
    if (body.kind === 'cut') return refusedAnswer;
    if (body.kind === 'late')
      return problemAnswer(problem('late', 'The body of the request took too long. Send it again.'), {
        connection: 'close',
      });
    if (body.kind === 'too_large')
      return problemAnswer(
        problem('too_large', `The body of a request may have ${sizeText(this.#limits.bodyBytes)}.`),
        {
          connection: 'close',
        },
      );
    const received = await this.#receive(name, { headers, body: body.bytes });
    if (received.kind === 'done') {
      const { kind } = received.value;
      const task = received.value.kind === 'started' ? { task: received.value.task.id } : {};
      return json({ kind, ...task }, kind === 'replayed' ? 200 : 202);
    }
    const { code, reason, next } = received.refusal;
    return code === 'unauthorized' ? refusedAnswer : problemAnswer(problem(code, reason, ...next));
  }
}

const USED_AGAIN =
  'A code that was used already was tried. If both were not you, another program has a token: start copse serve anew.';

/** Undefined for anything but `{"code": "…"}`. */
function codeIn(bytes: Buffer): string | undefined {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'));
    const code = typeof read === 'object' && read !== null && 'code' in read ? read.code : undefined;
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}

/** A signature that comes twice is none. */
function singleHeaders(request: IncomingMessage): TriggerRequest['headers'] {
  const entries = Object.entries(request.headersDistinct).map(
    ([name, values = []]) => [name, values.length === 1 ? values[0] : undefined] as const,
  );
  return Object.fromEntries(entries);
}
