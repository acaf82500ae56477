/**
 * The log of one attempt, for all pages that show it. The file is the buffer: its size is looked at every 100 ms while a page
 * is open, and each page reads on from its own offset. The agent can write the file, so it may also become shorter.
 */

import type { Typed } from '../../processes/ports/terminal.ts';
import type { AttemptLogs, LogName } from '../../agents/ports/logs.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type OutputNews, type OutputPosition, type OutputSource, WaitingReaders } from './source.ts';

export class LogSource implements OutputSource {
  readonly #logs: AttemptLogs;
  readonly #name: LogName;
  readonly #limits: Policy['terminals'];
  readonly #waiting = new WaitingReaders();
  readonly #timer: NodeJS.Timeout;
  #size: number;
  /** How many looks found nothing since the attempt ended: its runner may still write a last line. */
  #looksAfterEnd: number | undefined;
  #piece: { readonly at: number; readonly bytes: Buffer } | undefined;

  constructor(logs: AttemptLogs, name: LogName, limits: Policy['terminals']) {
    this.#logs = logs;
    this.#name = name;
    this.#limits = limits;
    this.#size = this.#sizeNow();
    this.#timer = setInterval(() => this.#look(), limits.coalesceMs);
    this.#timer.unref();
  }

  /** What is in the file is still sent. */
  endSoon(): void {
    this.#looksAfterEnd ??= 0;
  }

  begin(position: OutputPosition | undefined): OutputPosition {
    const stream = this.#name.attempt;
    if (position?.stream === stream) return position;
    const tail = Math.max(0, this.#size - this.#limits.logTailBytes);
    // Without a stream, the offset is one of this file.
    return position === undefined
      ? { stream, at: tail }
      : { stream: position.stream ?? stream, at: position.at };
  }

  async read({ stream, at }: OutputPosition, signal: AbortSignal): Promise<OutputNews> {
    const own = this.#name.attempt;
    for (;;) {
      if (signal.aborted) return { kind: 'stopped' };
      if (stream !== own) return { kind: 'gap', from: at, to: null, next: { stream: own, at: 0 } };
      if (at > this.#size) return { kind: 'gap', from: at, to: 0, next: { stream, at: 0 } };
      if (this.#size - at > this.#limits.logBehindBytes) {
        const to = this.#size - this.#limits.logTailBytes;
        return { kind: 'gap', from: at, to, next: { stream, at: to } };
      }
      const bytes = this.#read(at);
      if (bytes.length > 0) return { kind: 'output', at, bytes };
      if ((this.#looksAfterEnd ?? 0) > this.#limits.lastLooks)
        return { kind: 'ended', reason: 'Its attempt has ended.' };
      await this.#waiting.untilWoken(signal);
    }
  }

  type(): Promise<Typed> {
    return Promise.resolve('not_typed');
  }

  close(): void {
    clearInterval(this.#timer);
    this.#looksAfterEnd = this.#limits.lastLooks + 1;
    this.#waiting.wakeAll();
  }

  #look(): void {
    const size = this.#sizeNow();
    const isSame = size === this.#size;
    this.#size = size;
    if (this.#looksAfterEnd !== undefined) this.#looksAfterEnd = isSame ? this.#looksAfterEnd + 1 : 0;
    if (!isSame || (this.#looksAfterEnd ?? 0) > this.#limits.lastLooks) this.#waiting.wakeAll();
  }

  /** A log that the agent made unreadable is shown as none: no request waits for it, and its error would end the server. */
  #sizeNow(): number {
    try {
      return this.#logs.find(this.#name)?.bytes ?? 0;
    } catch {
      return 0;
    }
  }

  #read(at: number): Buffer {
    const length = Math.min(this.#size - at, this.#limits.pieceBytes);
    if (length === 0) return Buffer.alloc(0);
    if (this.#piece?.at !== at || this.#piece.bytes.length !== length)
      this.#piece = { at, bytes: Buffer.from(this.#logs.read(this.#name, at, length)) };
    return this.#piece.bytes;
  }
}
