/**
 * The terminal of an agent, for all pages that show it, from one control client of tmux.
 *
 * A page first gets the screen, then the output from the screen's offset on. A page that fell behind what is kept, and every
 * page after a gap or a new size, gets a new screen: what is missing of a terminal cannot be made up by more output.
 * `stream` changes with each of these, so a page that comes back with an older one gets a screen too.
 */

import { randomBytes } from 'node:crypto';

import type { Policy } from '../../kernel/policy.ts';
import type { OpenTerminal, TerminalScreen, Terminals, Typed } from '../../processes/ports/terminal.ts';
import { OutputBuffer } from './buffer.ts';
import { type OutputNews, type OutputPosition, type OutputSource, WaitingReaders } from './source.ts';

export class TerminalSource implements OutputSource {
  readonly #limits: Policy['terminals'];
  readonly #id = randomBytes(6).toString('hex');
  readonly #buffer: OutputBuffer;
  readonly #waiting = new WaitingReaders();
  readonly #terminal: OpenTerminal;
  #epoch = 0;
  /** The epoch in which the screen was asked for that has not come yet. */
  #looking: number | undefined;
  #screen: (TerminalScreen & { readonly at: number }) | undefined;
  #ended: string | undefined;
  /** The last piece that was read: pages that follow each other's pace get the same bytes. */
  #piece: { readonly at: number; readonly bytes: Buffer } | undefined;

  constructor(terminals: Terminals, name: string, limits: Policy['terminals']) {
    this.#limits = limits;
    this.#buffer = new OutputBuffer(limits.bufferBytes);
    this.#terminal = terminals.open(name, {
      onScreen: (screen) => this.#onScreen(screen),
      onOutput: (bytes) => {
        this.#buffer.append(bytes);
        this.#waiting.wakeAll();
      },
      onGap: () => {
        this.#buffer.skip();
        this.#beginAnew();
      },
      onResize: () => this.#beginAnew(),
      onEnd: (reason) => {
        this.#ended = reason;
        this.#waiting.wakeAll();
      },
    });
  }

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  begin(position: OutputPosition | undefined): OutputPosition {
    return position ?? { stream: null, at: 0 };
  }

  async read(position: OutputPosition, signal: AbortSignal): Promise<OutputNews> {
    for (;;) {
      if (signal.aborted) return { kind: 'stopped' };
      const news = this.#hasFrom(position) ? this.#outputAfter(position) : this.#screenFor(position);
      if (news !== undefined) return news;
      if (this.#ended !== undefined) return { kind: 'ended', reason: this.#ended };
      await this.#waiting.untilWoken(signal);
    }
  }

  type(bytes: Uint8Array): Promise<Typed> {
    return this.#terminal.type(bytes);
  }

  close(): void {
    this.#terminal.close();
  }

  #stream(): string {
    return `${this.#id}.${this.#epoch}`;
  }

  #hasFrom({ stream, at }: OutputPosition): boolean {
    return stream === this.#stream() && at >= this.#buffer.start && at <= this.#buffer.end;
  }

  #outputAfter({ at }: OutputPosition): OutputNews | undefined {
    if (at === this.#buffer.end) return undefined;
    const length = Math.min(this.#buffer.end - at, this.#limits.pieceBytes);
    if (this.#piece?.at !== at || this.#piece.bytes.length !== length)
      this.#piece = { at, bytes: this.#buffer.read(at, length) };
    return { kind: 'output', ...this.#piece };
  }

  #screenFor({ stream, at: had }: OutputPosition): OutputNews | undefined {
    const screen = this.#screen;
    const { start, end } = this.#buffer;
    if (screen === undefined || screen.at < start || end - screen.at > this.#limits.pieceBytes) {
      if (this.#ended === undefined && this.#looking === undefined) this.#look();
      return undefined;
    }
    const { at, columns, rows, drawing } = screen;
    const isSame = stream?.startsWith(`${this.#id}.`) === true && had <= at;
    const hasAll = stream === null || (isSame && had === at);
    const gap = hasAll ? null : { from: had, to: isSame ? at : null };
    return { kind: 'screen', stream: this.#stream(), at, columns, rows, drawing, gap };
  }

  #look(): void {
    this.#looking = this.#epoch;
    this.#terminal.look();
  }

  #onScreen(screen: TerminalScreen): void {
    const isPresent = this.#looking === this.#epoch;
    this.#looking = undefined;
    if (isPresent) this.#screen = { ...screen, at: this.#buffer.end };
    this.#waiting.wakeAll();
  }

  #beginAnew(): void {
    this.#epoch += 1;
    this.#screen = undefined;
    this.#piece = undefined;
    this.#waiting.wakeAll();
  }
}
