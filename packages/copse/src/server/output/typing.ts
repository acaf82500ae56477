/**
 * What a page types. Each input is checked by the board as it is then, one after the other, so that nothing reaches the agent
 * before a take-over or after its end. Too much at once is refused as a whole: half of a pasted text would be worse than none.
 */

import { unreachable } from '../../kernel/unreachable.ts';
import type { Typed } from '../../processes/ports/terminal.ts';
import { type OutputFrame, type RefusedInput, parseTyped, refusedFrame, textFrame } from './frames.ts';

export interface TypingParts {
  readonly limits: {
    readonly typedBytes: number;
    readonly typedBytesPerSecond: number;
    readonly leastTypedBytes: number;
    readonly waitingInputs: number;
  };
  /** By the board; null when it may be passed on. */
  readonly refuse: () => Promise<RefusedInput | null>;
  readonly type: (bytes: Uint8Array) => Promise<Typed>;
  readonly reply: (frame: OutputFrame) => void;
  /** Ends the connection of a page that sends more than it may. */
  readonly tooMuch: () => void;
  /** A clock that only goes forward. */
  readonly nowMs: () => number;
}

export class Typing {
  readonly #parts: TypingParts;
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  #window = { sinceMs: Number.NEGATIVE_INFINITY, bytes: 0 };

  constructor(parts: TypingParts) {
    this.#parts = parts;
  }

  take(frame: string | undefined): void {
    const { limits, tooMuch } = this.#parts;
    if (this.#waiting >= limits.waitingInputs) return tooMuch();
    this.#waiting += 1;
    this.#queue = this.#queue.then(() => this.#takeTurn(frame));
  }

  async #takeTurn(frame: string | undefined): Promise<void> {
    try {
      await this.#answer(frame);
    } catch {
      // The board could not be read: it is not known whether this may be typed.
      this.#refuse('unavailable', 'The board could not be read: nothing was typed.', frame);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #answer(frame: string | undefined): Promise<void> {
    const { limits, refuse, type, reply } = this.#parts;
    const input = frame === undefined ? undefined : parseTyped(frame);
    if (input === undefined)
      return this.#refuse('invalid', 'An input is {"kind": "type", "id": 1, "text": "…"}.', undefined);
    const bytes = Buffer.from(input.text);
    if (bytes.length > limits.typedBytes)
      return this.#refuse('invalid', `One input has at most ${limits.typedBytes} bytes.`, frame);
    if (!this.#hasRoom(bytes.length))
      return this.#refuse('busy', `At most ${limits.typedBytesPerSecond} bytes a second are typed.`, frame);
    const refusal = await refuse();
    if (refusal !== null) return reply(refusedFrame(refusal, input.id));
    const typed = await type(bytes);
    switch (typed) {
      case 'typed':
        return reply(textFrame({ kind: 'typed', id: input.id }));
      case 'not_typed':
        return this.#refuse('wrong_status', 'The terminal has ended: nothing was typed.', frame);
      case 'unknown':
        return this.#refuse('unknown', 'The terminal has ended: part of it may have been typed.', frame);
      default:
        return unreachable(typed);
    }
  }

  #hasRoom(bytes: number): boolean {
    const now = this.#parts.nowMs();
    if (now - this.#window.sinceMs >= SECOND_MS) this.#window = { sinceMs: now, bytes: 0 };
    const { leastTypedBytes, typedBytesPerSecond } = this.#parts.limits;
    const counted = Math.max(bytes, leastTypedBytes);
    if (this.#window.bytes + counted > typedBytesPerSecond) return false;
    this.#window.bytes += counted;
    return true;
  }

  #refuse(code: string, reason: string, frame: string | undefined): void {
    const id = frame === undefined ? undefined : parseTyped(frame)?.id;
    this.#parts.reply(refusedFrame({ code, reason, next: [] }, id ?? 0));
  }
}

const SECOND_MS = 1_000;
