/**
 * One connection that listens for all followers of this process. It is asked for a sign of life, because a connection on
 * which nothing is sent never learns that it is dead. After a gap it wakes all followers: notifications may be lost, and
 * followers go on from the number of the last event that they saw.
 */

import type pg from 'pg';

import { backoffMs } from '../../kernel/backoff.ts';
import type { Subscription } from '../port.ts';
import { type Clients, destroy } from './clients.ts';

export class Listener {
  readonly #clients: Clients;
  readonly #channel: string;
  readonly #followers = new Set<() => void>();
  #client: pg.Client | undefined;
  #connecting: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(clients: Clients, channel: string) {
    this.#clients = clients;
    this.#channel = channel;
  }

  /** Fails when the server cannot be reached now. */
  async subscribe(wake: () => void): Promise<Subscription> {
    // One function may subscribe twice.
    const follower = () => wake();
    if (this.#client === undefined && this.#retry === undefined) await this.#connect();
    this.#followers.add(follower);
    if (this.#client === undefined) this.#reconnectSoon();
    return {
      stop: async () => {
        this.#followers.delete(follower);
        if (this.#followers.size === 0) await this.close();
      },
    };
  }

  async close(): Promise<void> {
    this.#followers.clear();
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const clients = this.#clients;
    const client = await clients.connect('copse (listening)');
    client.on('notification', () => this.#wake());
    try {
      await clients.watch(client, client.query(`listen ${client.escapeIdentifier(this.#channel)}`));
    } catch (error) {
      destroy(client);
      throw error;
    }
    const { listenEveryMs } = clients.limits;
    const heart = setInterval(() => {
      clients.watch(client, client.query('select 1'), listenEveryMs).catch(() => destroy(client));
    }, listenEveryMs);
    this.#client = client;
    this.#failures = 0;
    client.once('end', () => {
      clearInterval(heart);
      if (this.#client !== client) return;
      this.#client = undefined;
      this.#reconnectSoon();
    });
  }

  #reconnectSoon(): void {
    if (this.#followers.size === 0 || this.#retry !== undefined) return;
    const { againFirstMs: firstMs, againMostMs: mostMs } = this.#clients.limits;
    this.#failures += 1;
    // Random, so that the machines of a board do not return all at once.
    const waitMs = backoffMs(this.#failures, { firstMs, mostMs }) * (0.5 + Math.random() / 2);
    this.#retry = setTimeout(() => {
      this.#connect()
        .finally(() => (this.#retry = undefined))
        .then(
          () => (this.#followers.size === 0 ? this.close() : this.#wake()),
          () => this.#reconnectSoon(),
        );
    }, waitMs);
  }

  #wake(): void {
    for (const wake of this.#followers) wake();
  }
}
