/**
 * Connections that do not hang. A half-open socket never answers and never closes, so every question has a time limit in the
 * client too, and a connection that is closed is destroyed when the server does not take part. The server gives up clients
 * that vanished in the same way, so that no lock outlives its owner for long.
 */

import type { Socket } from 'node:net';

import pg from 'pg';

import type { Policy } from '../../kernel/policy.ts';
import type { PostgresAddress } from './address.ts';

export type ConnectionLimits = Policy['database'];

export interface BoardClient extends pg.Client {
  /** The name under which the server shows it; no other connection has it. */
  readonly label: string;
}

/** All connections of one process to one board. */
export class Clients {
  readonly config: pg.ClientConfig;
  readonly limits: ConnectionLimits;
  readonly #alive = new Set<pg.Client>();

  constructor({ connectionString, ssl }: PostgresAddress, limits: ConnectionLimits) {
    this.limits = limits;
    this.config = {
      connectionString,
      ssl,
      types: numbersForBigints,
      connectionTimeoutMillis: limits.connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: limits.keepAliveSeconds * 1_000,
    };
  }

  /** For a pool, which makes its clients itself. */
  get Client(): new (config: pg.ClientConfig) => BoardClient {
    const { limits } = this;
    const alive = this.#alive;
    return class extends pg.Client {
      readonly label: string;

      constructor(config: pg.ClientConfig) {
        const label = `${config.application_name} ${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
        super({ ...config, application_name: label });
        this.label = label;
        alive.add(this);
        // Without a listener an error would end the process; the question that waits fails with it.
        this.on('error', () => {});
        this.once('end', () => alive.delete(this));
      }

      override end(callback?: (error: Error) => void): Promise<void> & void {
        setTimeout(() => destroy(this), limits.closeMs).unref();
        return (callback ? super.end(callback) : super.end()) as Promise<void> & void;
      }
    };
  }

  connect(name: string, connectMs = this.limits.connectMs): Promise<BoardClient> {
    const config = { ...this.config, connectionTimeoutMillis: connectMs, application_name: name };
    const client = new this.Client(config);
    return client.connect().then(
      () => client,
      (error: unknown) => {
        destroy(client);
        throw error;
      },
    );
  }

  /** The answer, or a dead connection after the time. */
  watch<T>(client: pg.ClientBase, answer: Promise<T>, ms: number = this.limits.answerMs): Promise<T> {
    let timer = setTimeout(() => {
      timer = setTimeout(() => destroy(client, new NoAnswer(ms)), this.limits.secondLookMs);
    }, ms);
    return answer.finally(() => clearTimeout(timer));
  }

  destroyAll(): void {
    for (const client of this.#alive) destroy(client);
  }
}

class NoAnswer extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(ms: number) {
    super(`the server did not answer for ${ms / 1_000} s`);
  }
}

/** Everything that waits on the connection fails at once. */
export function destroy(client: pg.ClientBase, error?: Error): void {
  socketOf(client).destroy(error);
}

export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** bigint columns hold counts and times, which fit a number. */
const numbersForBigints: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8
      ? Number
      : (pg.types.getTypeParser(id, format) as (text: string) => unknown),
};
