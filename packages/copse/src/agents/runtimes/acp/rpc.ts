/**
 * JSON-RPC 2.0 with one message on a line, in both directions: the transport of the Agent Client Protocol. Copse does not use
 * the protocol's package, because it checks every message with zod, which would be a third of a runner's memory.
 */

import { defaultPolicy } from '../../../kernel/policy.ts';
import { type Fields, isFields, number, text } from '../fields.ts';

export interface RpcSettings {
  readonly input: NodeJS.WritableStream;
  readonly output: NodeJS.ReadableStream;
  /** Answers a request of the agent. Throw `RpcError` to refuse. */
  readonly onRequest: (method: string, params: unknown) => Promise<unknown>;
  readonly onNotice: (method: string, params: unknown) => void;
  /** Gets every line, in both directions. */
  readonly record: (line: string) => void;
}

export interface Rpc {
  /** Rejects with `RpcError` when the agent refuses, and with `RpcClosed` when the program is gone. */
  request(method: string, params: Fields): Promise<unknown>;
  notify(method: string, params: Fields): void;
}

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

class RpcClosed extends Error {
  override readonly name = 'RpcClosed';
}

export const NO_SUCH_METHOD = -32_601;
export const INVALID = -32_602;
const INTERNAL = -32_603;

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function openRpc({ input, output, onRequest, onNotice, record }: RpcSettings): Rpc {
  const waiting = new Map<number, PendingRequest>();
  let requests = 0;
  let isClosed = false;

  const send = (message: Fields): void => {
    const line = JSON.stringify({ jsonrpc: '2.0', ...message });
    record(line);
    input.write(`${line}\n`);
  };
  const answer = async (id: unknown, method: string, params: unknown): Promise<void> => {
    try {
      send({ id, result: (await onRequest(method, params)) ?? null });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : INTERNAL;
      send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  };
  const settle = (message: Fields): void => {
    const id = number(message, 'id');
    const one = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || one === undefined) return;
    waiting.delete(id);
    const { error } = message;
    if (isFields(error))
      one.reject(
        new RpcError(number(error, 'code') ?? INTERNAL, text(error, 'message') ?? 'refused', error['data']),
      );
    else one.resolve(message['result']);
  };
  const take = (line: string): void => {
    record(line);
    const message = parse(line);
    if (message === undefined) return;
    const method = text(message, 'method');
    if (method === undefined) settle(message);
    else if (message['id'] === undefined) onNotice(method, message['params']);
    else void answer(message['id'], method, message['params']);
  };
  const close = (): void => {
    isClosed = true;
    for (const { reject } of waiting.values()) reject(new RpcClosed('The program closed the connection.'));
    waiting.clear();
  };
  splitLines(output, take, close);
  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new RpcClosed('The program closed the connection.'));
        requests += 1;
        waiting.set(requests, { resolve, reject });
        send({ id: requests, method, params });
      }),
    notify: (method, params) => {
      if (!isClosed) send({ method, params });
    },
  };
}

/** Longer lines are skipped. */
const LONGEST_LINE = defaultPolicy.agentOutput.lineBytes;

/** Not with readline, which also splits at characters that JSON allows in strings. */
function splitLines(output: NodeJS.ReadableStream, take: (line: string) => void, close: () => void): void {
  let rest: Buffer[] = [];
  let length = 0;
  const keep = (bytes: Buffer): void => {
    length += bytes.length;
    if (length <= LONGEST_LINE) rest.push(bytes);
  };
  output.on('data', (chunk: Buffer) => {
    let begin = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, begin)) {
      keep(chunk.subarray(begin, end));
      const line = length <= LONGEST_LINE ? Buffer.concat(rest).toString().trim() : '';
      rest = [];
      length = 0;
      begin = end + 1;
      if (line !== '') take(line);
    }
    if (begin < chunk.length) keep(chunk.subarray(begin));
  });
  output.on('error', () => {});
  output.once('close', close);
}

function parse(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) ? value : undefined;
  } catch {
    // Some agents print other text; the record has it.
    return undefined;
  }
}
