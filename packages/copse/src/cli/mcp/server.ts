/**
 * The part of the Model Context Protocol, over lines of JSON, that a server with tools needs.
 *
 * Rules
 * - Tool calls run one after another, in the order of arrival: an agent may send a note and `finish` at once, in that
 *   order. Everything else is answered at once.
 * - A call that is cancelled before its turn does not start. One that has started completes and is not answered.
 * - No input ends the server: an invalid request gets an error, an invalid notification nothing.
 * - When the input ends, the calls received so far complete and are answered; then the server ends.
 */

import { linesOf } from './lines.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema, for the agent; `call` validates on its own. */
  readonly inputSchema: object;
  /** Never throws: errors become text for the agent. */
  readonly call: (given: Readonly<Record<string, unknown>>) => Promise<ToolAnswer>;
}

interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

interface Serving {
  readonly input: AsyncIterable<Uint8Array>;
  readonly write: (line: string) => Promise<void>;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
}

/** The newest first: it is the answer to a client with an unknown version. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

const MOST_BYTES = 16 * 1024 * 1024;

const codes = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;

export async function serve(serving: Serving): Promise<void> {
  const server = new Server(serving);
  for await (const line of linesOf(serving.input, MOST_BYTES)) server.take(line);
  await server.done();
}

type Id = string | number;
type Answer = { readonly id: Id | null } & (
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
);

class Server {
  readonly #serving: Serving;
  /** Requests without an answer yet. */
  readonly #open = new Map<Id, { isCancelled: boolean }>();
  readonly #underway = new Set<Promise<void>>();
  #lastCall: Promise<unknown> = Promise.resolve();

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  take(line: string | undefined): void {
    if (line?.trim() === '') return;
    const work = this.#handle(line);
    this.#underway.add(work);
    void work.finally(() => this.#underway.delete(work));
  }

  async done(): Promise<void> {
    await Promise.all(this.#underway);
  }

  async #handle(line: string | undefined): Promise<void> {
    const answer = await this.#answerLine(line);
    if (answer !== undefined) await this.#serving.write(`${JSON.stringify(answer)}\n`);
  }

  async #answerLine(line: string | undefined): Promise<object | undefined> {
    if (line === undefined) {
      return failed(
        null,
        codes.request,
        `A message may have at most ${MOST_BYTES} bytes; this one was ignored.`,
      );
    }
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return failed(null, codes.parse, 'This line is not JSON.');
    }
    if (!Array.isArray(message)) return this.#answer(message);
    // Version 2025-03-26 allows several messages in one.
    if (message.length === 0) return failed(null, codes.request, 'The list of messages is empty.');
    const answers = await Promise.all(message.map((one) => this.#answer(one)));
    const given = answers.filter((one) => one !== undefined);
    return given.length > 0 ? given : undefined;
  }

  async #answer(message: unknown): Promise<object | undefined> {
    if (!isObject(message)) return failed(null, codes.request, 'A message must be an object.');
    const { id, method } = message;
    const params = isObject(message['params']) ? message['params'] : {};
    if (typeof method !== 'string') {
      // A response, although this server sends no requests.
      if ('result' in message || 'error' in message) return undefined;
      return failed(isId(id) ? id : null, codes.request, 'This message has no method.');
    }
    if (id === undefined) {
      if (method === 'notifications/cancelled') this.#cancel(params['requestId']);
      return undefined;
    }
    if (!isId(id)) return failed(null, codes.request, 'An id must be a string or a number.');
    const request = { isCancelled: false };
    this.#open.set(id, request);
    const answer = await this.#respond(id, method, params, request).catch((error: unknown) =>
      failed(id, codes.internal, error instanceof Error ? error.message : String(error)),
    );
    if (this.#open.get(id) === request) this.#open.delete(id);
    return request.isCancelled ? undefined : { jsonrpc: '2.0', ...answer };
  }

  #cancel(id: unknown): void {
    const request = isId(id) ? this.#open.get(id) : undefined;
    if (request) request.isCancelled = true;
  }

  async #respond(
    id: Id,
    method: string,
    params: Readonly<Record<string, unknown>>,
    request: { readonly isCancelled: boolean },
  ): Promise<Answer> {
    const { tools, version, instructions } = this.#serving;
    switch (method) {
      case 'initialize':
        return {
          id,
          result: {
            protocolVersion: VERSIONS.find((known) => known === params['protocolVersion']) ?? VERSIONS[0],
            capabilities: { tools: {} },
            serverInfo: { name: 'copse', version },
            instructions,
          },
        };
      case 'ping':
        return { id, result: {} };
      case 'tools/list':
        return { id, result: { tools: tools.map(listed) } };
      case 'tools/call': {
        const { name, arguments: given = {} } = params;
        const tool = tools.find((known) => known.name === name);
        if (tool === undefined) return failed(id, codes.params, `There is no tool ${JSON.stringify(name)}.`);
        if (given !== null && !isObject(given))
          return failed(id, codes.params, 'The arguments of a tool must be an object.');
        const answer = await this.#inTurn(async () =>
          request.isCancelled ? undefined : tool.call(given ?? {}),
        );
        if (answer === undefined) return { id, result: null };
        return {
          id,
          result: { content: [{ type: 'text', text: answer.text }], isError: answer.isError },
        };
      }
      default:
        return failed(id, codes.method, `There is no method ${JSON.stringify(method)}.`);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastCall.then(work);
    // An error of one call does not affect the next.
    this.#lastCall = result.catch(() => {});
    return result;
  }
}

/** `alwaysLoad`: Claude otherwise loads tools on demand, and would not know of these. */
function listed({ name, title, description, inputSchema }: Tool): object {
  return { name, title, description, inputSchema, _meta: { 'anthropic/alwaysLoad': true } };
}

function failed(id: Id | null, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
