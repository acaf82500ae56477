/**
 * A TCP proxy in front of a server, with the faults of a network:
 *
 *   delay       every chunk arrives later, in order
 *   blackhole   nothing passes in either direction; what was sent arrives when the network heals
 *   stall       nothing passes on the connections that there are, until the network heals; new connections pass
 *   half-open   the server's side of every connection is gone, and the client never hears of it; new connections pass
 *   cut         every connection is reset; new ones pass
 *   refuse      every connection is reset, and new ones are refused
 *
 * `when` applies a fault at the moment a client sends a text: before it is passed on, or after.
 */

import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

export type Fault =
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'blackhole' | 'stall' | 'half-open' | 'cut' | 'refuse' };

export interface Trigger {
  readonly text: string;
  /** `before`: the server never gets the chunk, unless a blackhole heals. */
  readonly at: 'before' | 'after';
  readonly fault: Fault;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isStalled: boolean;
}

export class Proxy implements AsyncDisposable {
  readonly #to: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<Pair>();
  readonly #orphans = new Set<Socket>();
  /** Wakes what a blackhole holds back. */
  #healed = Promise.withResolvers<void>();
  #isBlackhole = false;
  #delayMs = 0;
  #trigger: (Trigger & { readonly fired: () => void }) | undefined;
  #server: Server;
  #port = 0;

  private constructor(to: URL) {
    this.#to = { host: to.hostname, port: Number(to.port) };
    this.#server = this.#listener();
  }

  static async to(url: string): Promise<Proxy> {
    const proxy = new Proxy(new URL(url));
    await proxy.#listen();
    return proxy;
  }

  /** The same address, through this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.host = `127.0.0.1:${this.#port}`;
    return changed.href;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  async apply(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case 'delay':
        this.#delayMs = fault.ms;
        return;
      case 'blackhole':
        this.#isBlackhole = true;
        return;
      case 'stall':
        for (const pair of this.#pairs) pair.isStalled = true;
        return;
      case 'half-open':
        for (const { client, server } of this.#pairs) {
          client.removeAllListeners('close');
          server.removeAllListeners('close');
          this.#orphans.add(client);
          server.destroy();
        }
        return this.#pairs.clear();
      case 'cut':
        return this.#cut();
      case 'refuse':
        this.#cut();
        await new Promise((resolve) => this.#server.close(resolve));
        return;
      default:
        throw new Error(`There is no fault ${String(fault satisfies never)}`);
    }
  }

  /** Applies the fault once, when a client sends the text. Resolves when it did. */
  when(trigger: Trigger): Promise<void> {
    return new Promise((fired) => (this.#trigger = { ...trigger, fired }));
  }

  async heal(): Promise<void> {
    this.#delayMs = 0;
    this.#isBlackhole = false;
    for (const pair of this.#pairs) pair.isStalled = false;
    this.#healed.resolve();
    this.#healed = Promise.withResolvers<void>();
    if (!this.#server.listening) {
      this.#server = this.#listener();
      await this.#listen();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isBlackhole = false;
    for (const pair of this.#pairs) pair.isStalled = false;
    this.#healed.resolve();
    this.#cut();
    for (const orphan of this.#orphans) orphan.destroy();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  #listener(): Server {
    return createServer((client) => this.#join(client));
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #join(client: Socket): void {
    const server = connect({ ...this.#to, noDelay: true });
    const pair = { client: client.setNoDelay(true), server, isStalled: false };
    this.#pairs.add(pair);
    const over = async () => {
      // What a client sent before it vanished may still arrive.
      while (this.#holds(pair)) await this.#healed.promise;
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const end of [client, server]) end.on('error', () => {}).on('close', () => void over());
    void this.#pass(pair, true);
    void this.#pass(pair, false);
  }

  #holds(pair: Pair): boolean {
    return this.#isBlackhole || pair.isStalled;
  }

  async #pass(pair: Pair, isFromClient: boolean): Promise<void> {
    const { client, server } = pair;
    const [from, to] = isFromClient ? [client, server] : [server, client];
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        const trigger =
          isFromClient && chunk.includes(this.#trigger?.text ?? '\0none') ? this.#trigger : null;
        if (trigger) this.#trigger = undefined;
        if (trigger?.at === 'before') {
          await this.apply(trigger.fault);
          trigger.fired();
        }
        if (this.#delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
        // A chunk that is let through before the fault counts as sent; its answer does not arrive.
        while (this.#holds(pair)) await this.#healed.promise;
        if (!to.destroyed && !this.#orphans.has(to)) to.write(chunk);
        if (trigger?.at !== 'after') continue;
        await this.apply(trigger.fault);
        trigger.fired();
      }
      if (!this.#orphans.has(to)) to.end();
    } catch {
      if (!this.#orphans.has(to)) to.destroy();
    }
  }

  #cut(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.#pairs.clear();
  }
}
