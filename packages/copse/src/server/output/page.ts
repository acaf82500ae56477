/**
 * One page that shows the output of one session over a WebSocket (frames.ts). At most one piece is on its way at a time: a page
 * that reads slowly costs no memory, gets the newest screen when it has caught up, and is closed when it takes nothing.
 *
 * Close codes: 1000 the output has ended, 1001 the server stops, 4004 it cannot be shown, 4008 too slow or too much input.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import type { WebSocket } from 'ws';

import type { Policy } from '../../kernel/policy.ts';
import { closeCodes } from '../events/close-codes.ts';
import { closeWhenSilent } from '../events/socket.ts';
import { inTime } from '../events/tell.ts';
import { type OutputFrame, type RefusedInput, newsFrames, refusedFrame, textFrame } from './frames.ts';
import type { OutputNews, OutputPosition, OutputSource } from './source.ts';
import { Typing } from './typing.ts';

export interface ShownOutput {
  readonly source: OutputSource;
  readonly from: OutputPosition | undefined;
  /** For the first frame. */
  readonly about: Readonly<Record<string, unknown>>;
  /** By the board, before each input. */
  readonly refuseTyping: () => Promise<RefusedInput | null>;
}

export interface PageOptions {
  readonly signal: AbortSignal;
  readonly server: Policy['server'];
  readonly terminals: Policy['terminals'];
}

export class OutputPage {
  readonly #socket: WebSocket;
  readonly #options: PageOptions;
  readonly #gone = new AbortController();
  readonly #signal: AbortSignal;
  #shown: ShownOutput | undefined;

  /** Listens at once: frames that come before the output is found are answered too. */
  constructor(socket: WebSocket, options: PageOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#gone.signal]);
    socket.once('close', () => this.#gone.abort());
    closeWhenSilent(socket, options.server.heartbeatMs);
    const typing = new Typing({
      limits: options.terminals,
      refuse: () => this.#shown?.refuseTyping() ?? Promise.resolve(NOT_OPEN),
      type: async (bytes) => (await this.#shown?.source.type(bytes)) ?? 'not_typed',
      reply: (frame) => this.#reply(frame),
      tooMuch: () => this.#close(closeCodes.tooMuch, 'too much input'),
      nowMs: () => performance.now(),
    });
    socket.on('message', (data: Buffer, isBinary: boolean) =>
      typing.take(isBinary ? undefined : data.toString()),
    );
  }

  refuse(refusal: RefusedInput): void {
    this.#reply(refusedFrame(refusal));
    this.#close(closeCodes.refused, refusal.code);
  }

  /** Until the page is closed, the output ends, or the server stops. */
  async show(shown: ShownOutput): Promise<'slow' | 'stopped'> {
    this.#shown = shown;
    let position = shown.source.begin(shown.from);
    if ((await this.#send([textFrame({ kind: 'opened', ...shown.about, ...position })])) === 'slow')
      return this.#endSlow();
    for (;;) {
      const news = await shown.source.read(position, this.#signal);
      if (news.kind === 'stopped') break;
      const sentMs = performance.now();
      if ((await this.#send(newsFrames(news))) === 'slow') return this.#endSlow();
      if (news.kind === 'ended') {
        this.#close(closeCodes.ended, 'ended');
        return 'stopped';
      }
      position = after(position, news);
      await this.#pace(news, sentMs);
    }
    this.#close(closeCodes.stopping, 'the server stops');
    return 'stopped';
  }

  /** A full piece is followed at once by the rest. */
  async #pace(news: OutputNews, sentMs: number): Promise<void> {
    const { coalesceMs, pieceBytes } = this.#options.terminals;
    if (news.kind !== 'output' || news.bytes.length === pieceBytes) return;
    const restMs = sentMs + coalesceMs - performance.now();
    if (restMs > 0) await sleep(restMs, undefined, { signal: this.#signal }).catch(() => {});
  }

  #send(frames: readonly OutputFrame[]): Promise<'taken' | 'slow'> {
    return inTime(this.#options.server.slowMs, this.#signal, (done) => {
      for (const [index, { data, isBinary }] of frames.entries())
        this.#socket.send(data, { binary: isBinary }, index === frames.length - 1 ? () => done() : undefined);
    });
  }

  /** A page that sends and does not read would fill the memory with answers. */
  #reply({ data, isBinary }: OutputFrame): void {
    if (this.#socket.bufferedAmount > this.#options.server.batchBytes)
      this.#close(closeCodes.tooMuch, 'too slow');
    else this.#socket.send(data, { binary: isBinary }, () => {});
  }

  #endSlow(): 'slow' {
    this.#close(closeCodes.tooMuch, 'slow: connect again with the last stream and offset');
    return 'slow';
  }

  #close(code: number, reason: string): void {
    this.#gone.abort();
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), this.#options.server.farewellMs).unref();
  }
}

const NOT_OPEN: RefusedInput = { code: 'too_early', reason: 'The terminal is not open yet.', next: [] };

function after(position: OutputPosition, news: Exclude<OutputNews, { kind: 'ended' | 'stopped' }>) {
  switch (news.kind) {
    case 'output':
      return { ...position, at: news.at + news.bytes.length };
    case 'screen':
      return { stream: news.stream, at: news.at };
    case 'gap':
      return news.next;
    default:
      throw new Error(`There is no news ${String(news satisfies never)}`);
  }
}
