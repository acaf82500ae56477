/** What benchmarks leave behind, and its removal: folders, processes, the PostgreSQL server. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startPostgres } from '../test/support/board/postgres.ts';
import type { Bench } from './row.ts';

export class Scratch implements Bench {
  readonly isQuick: boolean;
  readonly #cleanUps: (() => unknown)[] = [];
  #cleaning: Promise<void> | undefined;
  #serverUrl: Promise<string> | undefined;
  #schemas = 0;

  constructor({ isQuick }: { readonly isQuick: boolean }) {
    this.isQuick = isQuick;
  }

  atEnd(cleanUp: () => unknown): void {
    this.#cleanUps.push(cleanUp);
  }

  async newFolder(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'copse bench '));
    this.atEnd(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  async newPostgresUrl(): Promise<string> {
    this.#schemas += 1;
    this.#serverUrl ??= startPostgres({ durable: true }).then((server) => {
      this.atEnd(() => server.stop());
      return server.url;
    });
    return `${await this.#serverUrl}?schema=bench_${this.#schemas}`;
  }

  /** Undefined unless a benchmark needed the server. */
  startedServer(): Promise<string> | undefined {
    return this.#serverUrl;
  }

  async cleanUp(): Promise<void> {
    this.#cleaning ??= this.#cleanUpOnce();
    await this.#cleaning;
  }

  async #cleanUpOnce(): Promise<void> {
    // An interrupt may come while the server starts.
    await this.#serverUrl?.catch(() => {});
    for (let cleanUp = this.#cleanUps.pop(); cleanUp !== undefined; cleanUp = this.#cleanUps.pop()) {
      try {
        await cleanUp();
      } catch (error) {
        console.error('Cleaning up failed:', error);
      }
    }
  }
}
