/**
 * The secrets of a running server: tokens, the one-time code, tickets. Only digests are kept, compared in constant time.
 *
 * A code becomes a token once. It ends at its first use, after 5 minutes, and after 10 wrong tries. A ticket opens one
 * WebSocket, whose address cannot carry a header; it ends at its first use and after 30 seconds.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { Policy } from '../kernel/policy.ts';

type KeyLimits = Pick<Policy['server'], 'codeMs' | 'codeTries' | 'ticketMs' | 'tickets' | 'tokens'>;

interface Expiring {
  readonly digest: Buffer;
  readonly untilMs: number;
}

export class ServerKeys {
  /** For the person's own programs; the others are given for codes. */
  readonly token = newSecret();
  readonly #own = digestOf(this.token);
  #entered: readonly Buffer[] = [];
  #code: (Expiring & { triesLeft: number }) | undefined;
  #tickets: readonly Expiring[] = [];
  readonly #limits: KeyLimits;
  /** A clock that only goes forward. */
  readonly #nowMs: () => number;

  constructor(limits: KeyLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** The code of before ends. */
  newCode(): string {
    const code = newSecret();
    const { codeMs, codeTries } = this.#limits;
    this.#code = { digest: digestOf(code), untilMs: this.#nowMs() + codeMs, triesLeft: codeTries };
    return code;
  }

  /** A new token, if the code is right. */
  enter(given: string): string | undefined {
    const code = this.#code;
    const isRight = timingSafeEqual(code?.digest ?? NONE, digestOf(given));
    if (code === undefined || this.#nowMs() >= code.untilMs) return undefined;
    code.triesLeft -= 1;
    if (isRight || code.triesLeft <= 0) this.#code = undefined;
    if (!isRight) return undefined;
    const token = newSecret();
    this.#entered = [...this.#entered, digestOf(token)].slice(-this.#limits.tokens);
    return token;
  }

  isToken(given: string | undefined): boolean {
    const digest = digestOf(given ?? '');
    // All are compared, so that the time says nothing about which one.
    const equal = [this.#own, ...this.#entered].filter((one) => timingSafeEqual(one, digest));
    return given !== undefined && equal.length > 0;
  }

  newTicket(): string {
    const ticket = newSecret();
    const untilMs = this.#nowMs() + this.#limits.ticketMs;
    this.#tickets = [...this.#validTickets(), { digest: digestOf(ticket), untilMs }].slice(
      -this.#limits.tickets,
    );
    return ticket;
  }

  useTicket(given: string | undefined): boolean {
    const digest = digestOf(given ?? '');
    const valid = this.#validTickets();
    this.#tickets = valid.filter((one) => !timingSafeEqual(one.digest, digest));
    return given !== undefined && this.#tickets.length < valid.length;
  }

  #validTickets(): readonly Expiring[] {
    const nowMs = this.#nowMs();
    return this.#tickets.filter(({ untilMs }) => nowMs < untilMs);
  }
}

/** 32 random bytes, in letters that addresses and headers can have. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const NONE = Buffer.alloc(32);
