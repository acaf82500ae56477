/**
 * `copse mcp --as person`: the registry's tools on standard input and output, for the assistant of a person.
 *
 * Operations that change something run one after another, in the order of arrival; those that read run at once. When the input
 * ends, the requests received so far are answered; then the server ends.
 */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';

import { KeptAccess } from '../../compose/operations/kept-access.ts';
import { type Perform, perform } from '../../operations/perform.ts';
import { operations } from '../../operations/registry.ts';
import { personServer } from '../../server/mcp/person-server.ts';
import { toolsOf } from '../../server/mcp/tools.ts';
import type { Cli } from '../invocation.ts';
import { linesOf } from './lines.ts';

const MOST_BYTES = 16 * 1024 * 1024;

const codes = { parse: -32700, request: -32600 } as const;

export async function serveAsPerson(cli: Cli): Promise<void> {
  const access = new KeptAccess(cli);
  try {
    const server = personServer({
      version: cli.version,
      tools: await toolsOf(operations),
      perform: changesInTurn((operation, input) => access.use((one) => perform(operation, one, input))),
    });
    const transport = new LineTransport((line) => cli.output.raw(line));
    await server.connect(transport);
    for await (const line of linesOf(cli.stdin(), MOST_BYTES)) await transport.take(line);
    await transport.answered();
    await server.close();
  } finally {
    await access.close();
  }
}

function changesInTurn(performing: Perform): Perform {
  let last: Promise<unknown> = Promise.resolve();
  return (operation, input) => {
    if (operation.effect === 'reads') return performing(operation, input);
    const result = last.then(() => performing(operation, input));
    // An error of one does not affect the next.
    last = result.catch(() => {});
    return result;
  };
}

/** Unlike the package's own, it limits the length of a line, answers one that is no message, and knows what is unanswered. */
class LineTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  readonly #write: (line: string) => Promise<void>;
  readonly #unanswered = new Set<unknown>();
  #onAnswer: () => void = () => {};

  constructor(write: (line: string) => Promise<void>) {
    this.#write = write;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(`${JSON.stringify(message)}\n`);
    if ('id' in message) this.#forget(message.id);
  }

  async take(line: string | undefined): Promise<void> {
    if (line?.trim() === '') return;
    const read = line === undefined ? undefined : messageIn(line);
    if (read === undefined) return this.#refuse(null, codes.parse, 'This line is not JSON, or too long.');
    const message = JSONRPCMessageSchema.safeParse(read);
    if (!message.success)
      return this.#refuse(idIn(read), codes.request, 'This is no message of the protocol.');
    if ('method' in message.data && 'id' in message.data) this.#unanswered.add(message.data.id);
    // A cancelled request gets no answer.
    if ('method' in message.data && message.data.method === 'notifications/cancelled')
      this.#forget(message.data.params?.['requestId']);
    this.onmessage?.(message.data);
  }

  async answered(): Promise<void> {
    while (this.#unanswered.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onAnswer = resolve;
      });
    }
  }

  #forget(id: unknown): void {
    this.#unanswered.delete(id);
    this.#onAnswer();
  }

  #refuse(id: string | number | null, code: number, message: string): Promise<void> {
    return this.#write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  }
}

function messageIn(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function idIn(read: unknown): string | number | null {
  const id = typeof read === 'object' && read !== null && 'id' in read ? read.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
