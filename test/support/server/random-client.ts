/**
 * A client of the events that leads a life: it begins at the start or at a snapshot, over SSE or a WebSocket, is cut, stops reading,
 * and comes back with its last cursor. What it has at the end is compared with the board.
 */

import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { WebSocket } from 'ws';

/** Where the server is now, and the header that lets a client in; undefined while it is down. */
export type Door = () => { readonly port: number; readonly authorization: string } | undefined;

interface Connection {
  readonly closed: Promise<void>;
  pause(): void;
  resume(): void;
  cut(): void;
}

export class RandomClient {
  /** The number that it began after, and those it was told since. */
  began = 0;
  readonly numbers: number[] = [];
  readonly what: string[] = [];
  #cursor = '0';
  readonly #door: Door;
  readonly #draw: () => number;

  constructor(door: Door, draw: () => number) {
    this.#door = door;
    this.#draw = draw;
  }

  /** Until it has the last event, which is known when the writer has stopped. */
  async live(last: () => number | undefined): Promise<void> {
    if (this.#draw() < 0.5) await this.#beginAtSnapshot();
    while (!this.#hasAll(last())) {
      const connection = await this.#connect().catch(() => undefined);
      if (connection === undefined) {
        await sleep(20);
        continue;
      }
      await this.#whileConnected(connection, last);
      connection.cut();
    }
  }

  #hasAll(last: number | undefined): boolean {
    return last !== undefined && (this.numbers.at(-1) ?? this.began) >= last;
  }

  async #whileConnected(connection: Connection, last: () => number | undefined): Promise<void> {
    // Most are cut; with a last event known, one that waits gets all.
    const cutAfter = this.#draw() < 0.7 ? this.#draw() * 400 : Number.POSITIVE_INFINITY;
    const began = performance.now();
    const now = { isClosed: false };
    void connection.closed.then(() => (now.isClosed = true));
    while (!now.isClosed && performance.now() - began < cutAfter && !this.#hasAll(last())) {
      if (this.#draw() < 0.1) {
        connection.pause();
        await sleep(this.#draw() * 100);
        connection.resume();
      }
      await sleep(10);
    }
  }

  async #beginAtSnapshot(): Promise<void> {
    for (;;) {
      const at = await this.#snapshot().catch(() => undefined);
      if (at !== undefined) {
        this.began = at;
        this.#cursor = String(at);
        return;
      }
      await sleep(20);
    }
  }

  async #snapshot(): Promise<number | undefined> {
    const door = this.#door();
    if (door === undefined) return undefined;
    const { port, authorization } = door;
    const got = await fetch(`http://127.0.0.1:${port}/api/v1/snapshot`, { headers: { authorization } });
    if (got.status !== 200) return undefined;
    const { at, tasks } = (await got.json()) as { at: number; tasks: readonly { title: string }[] };
    this.what.push(`snapshot ${at} of ${tasks.length}`);
    return at;
  }

  async #connect(): Promise<Connection> {
    const door = this.#door();
    if (door === undefined) throw new Error('The server is down');
    return this.#draw() < 0.5 ? this.#stream(door) : this.#socket(door);
  }

  #stream({ port, authorization }: NonNullable<ReturnType<Door>>): Promise<Connection> {
    this.what.push(`sse ${this.#cursor}`);
    return new Promise((resolve, reject) => {
      const path = `/api/v1/events?after=${this.#cursor}`;
      const sent = request(
        { host: '127.0.0.1', port, path, headers: { authorization }, agent: false },
        (got) => {
          if (got.statusCode !== 200) return reject(new Error(String(got.statusCode)));
          let text = '';
          got.setEncoding('utf8').on('data', (more: string) => {
            const blocks = (text + more).split('\n\n');
            text = blocks.pop() ?? '';
            for (const block of blocks) {
              const [, data] = /^data: (.*)$/m.exec(block) ?? [];
              if (data !== undefined && !/^event: /m.test(block)) this.#take(data);
            }
          });
          got.on('error', () => {});
          const closed = new Promise<void>((end) => got.once('close', () => end()));
          resolve({
            closed,
            pause: () => got.pause(),
            resume: () => got.resume(),
            cut: () => {
              got.removeAllListeners('data');
              sent.destroy();
            },
          });
        },
      );
      sent.on('error', reject);
      sent.end();
    });
  }

  async #socket({ port, authorization }: NonNullable<ReturnType<Door>>): Promise<Connection> {
    this.what.push(`ws ${this.#cursor}`);
    const got = await fetch(`http://127.0.0.1:${port}/api/v1/ticket`, {
      method: 'POST',
      headers: { authorization },
    });
    const { ticket } = (await got.json()) as { ticket: string };
    const socket = new WebSocket(
      `ws://127.0.0.1:${port}/api/v1/stream?ticket=${ticket}&after=${this.#cursor}`,
    );
    socket.on('message', (data: Buffer) => this.#take(data.toString()));
    const closed = new Promise<void>((end) => socket.once('close', () => end()));
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.on('error', reject);
    });
    return {
      closed,
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      cut: () => {
        socket.removeAllListeners('message');
        socket.terminate();
      },
    };
  }

  #take(json: string): void {
    const said = JSON.parse(json) as { cursor?: string; lost?: unknown; number?: number };
    if (said.cursor === undefined || said.lost !== undefined) return;
    this.#cursor = said.cursor;
    this.numbers.push(Number(said.cursor.split(':')[1]));
  }
}
