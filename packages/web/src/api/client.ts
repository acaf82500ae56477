/** Requests to the server of this page. The token goes only into the Authorization header. */

import { type InputOf, type OperationName, type OutputOf, operationOf } from './operations.ts';
import { problemOf, unreachable } from './problem.ts';

const API = '/api/v1';

export class Client {
  readonly #token: string;
  readonly #onRefused: () => void;

  constructor(token: string, onRefused: () => void) {
    this.#token = token;
    this.#onRefused = onRefused;
  }

  /** An operation that destroys is called only after a person said yes to it, so it is always confirmed here. */
  async call<N extends OperationName>(
    name: N,
    input: InputOf<N>,
    { signal, keepalive }: { readonly signal?: AbortSignal; readonly keepalive?: boolean } = {},
  ): Promise<OutputOf<N>> {
    const { method, path, destroys, creates } = operationOf(name);
    const fields = new Map(Object.entries(input as Readonly<Record<string, unknown>>));
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
      const value = fields.get(field);
      fields.delete(field);
      return encodeURIComponent(String(value));
    });
    const isInQuery = method === 'GET' || method === 'DELETE';
    const query = isInQuery ? queryOf(fields) : '';
    return this.#ask(`${filled}${query}`, {
      method,
      ...(signal && { signal }),
      // It is sent also when the page is being closed.
      ...(keepalive && { keepalive }),
      headers: {
        ...(!isInQuery && { 'content-type': 'application/json' }),
        ...(destroys && { confirm: name }),
        ...(creates && { 'idempotency-key': crypto.randomUUID() }),
      },
      ...(!isInQuery && { body: JSON.stringify(Object.fromEntries(fields)) }),
    });
  }

  snapshot(
    signal: AbortSignal,
  ): Promise<{ readonly at: number; readonly cursor: string; readonly records: unknown }> {
    return this.#ask('/snapshot/records', { method: 'GET', signal });
  }

  /** Opens one WebSocket, once. */
  async ticket(signal: AbortSignal): Promise<string> {
    const { ticket } = await this.#ask<{ readonly ticket: string }>('/ticket', { method: 'POST', signal });
    return ticket;
  }

  async #ask<T>(path: string, init: RequestInit): Promise<T> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.#token}`);
    let response: Response;
    try {
      response = await fetch(`${API}${path}`, { ...init, headers, cache: 'no-store' });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw unreachable(init.method === 'GET');
    }
    if (response.status === 401) this.#onRefused();
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as T;
  }
}

/** The way in: a code that works once becomes a token. */
export async function enter(code: string): Promise<string> {
  const response = await fetch(`${API}/enter`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
    cache: 'no-store',
  });
  if (!response.ok) throw await problemOf(response);
  const { token } = (await response.json()) as { readonly token: string };
  return token;
}

function queryOf(fields: ReadonlyMap<string, unknown>): string {
  const given = [...fields].filter(([, value]) => value !== undefined && value !== null);
  const pairs = given.map(
    ([name, value]) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(Array.isArray(value) ? value.join(',') : String(value))}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
