/**
 * The secrets of a running server: tokens, the one-time code, tickets. Only digests are kept, compared in constant time.
 *
 * A code becomes a token once; a page has it for 12 hours. It ends at its first use and after 5 minutes. Wrong tries do not end it:
 * 32 random bytes cannot be guessed, and strangers could keep the person out. A ticket opens one WebSocket, whose address cannot carry a
 * header; it ends at its first use and after 30 seconds.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { Policy } from '../kernel/policy.ts';
import type { KeptToken, KeptTokens } from './kept-tokens.ts';

type KeyLimits = Pick<
  Policy['server'],
  'codeMs' | 'ticketMs' | 'tickets' | 'tokens' | 'pageTokenMs' | 'clockStepMs'
>;

interface Expiring {
  readonly digest: Buffer;
  readonly untilMs: number;
}

interface PageToken extends KeptToken {
  /** It may be a stranger's: it is not kept. */
  readonly endsWithServer?: boolean;
}

interface UsedCode {
  readonly digest: Buffer;
  /** Of the token. */
  readonly token: Buffer;
}

export class ServerKeys {
  /** For the person's own programs; the others are given for codes. */
  readonly token = newSecret();
  readonly #own = digestOf(this.token);
  #entered: readonly PageToken[] = [];
  #code: Expiring | undefined;
  /** Codes that became tokens; each is told once when it comes again. */
  #used: readonly UsedCode[] = [];
  #tickets: readonly Expiring[] = [];
  readonly #limits: KeyLimits;
  /** A clock that only goes forward. */
  readonly #nowMs: () => number;

  readonly #kept: KeptTokens | undefined;

  constructor(limits: KeyLimits, nowMs: () => number, kept?: KeptTokens) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#kept = kept;
    this.#entered = stillValid(kept?.read() ?? [], limits).slice(-limits.tokens);
  }

  /** The code of before ends. */
  newCode(): string {
    const code = newSecret();
    this.#code = { digest: digestOf(code), untilMs: this.#nowMs() + this.#limits.codeMs };
    return code;
  }

  /** A new token, if the code is right. */
  enter(given: string): string | undefined {
    const code = this.#code;
    const isRight = timingSafeEqual(code?.digest ?? NONE, digestOf(given));
    if (code === undefined || this.#nowMs() >= code.untilMs) return undefined;
    if (!isRight) return undefined;
    this.#code = undefined;
    const token = newSecret();
    const one = { digest: digestOf(token), untilMs: Date.now() + this.#limits.pageTokenMs };
    const { tokens } = this.#limits;
    this.#used = [...this.#used, { digest: code.digest, token: one.digest }].slice(-tokens);
    this.#entered = [...stillValid(this.#entered, this.#limits), one].slice(-tokens);
    this.#keep();
    return token;
  }

  /** Whether this code became a token already; true once for each. That token is kept no longer than this server runs. */
  endWithServerIfUsed(given: string): boolean {
    const digest = digestOf(given);
    const again = this.#used.find((one) => timingSafeEqual(one.digest, digest));
    if (again === undefined) return false;
    this.#used = this.#used.filter((one) => one !== again);
    this.#entered = this.#entered.map((one) =>
      one.digest.equals(again.token) ? { ...one, endsWithServer: true } : one,
    );
    this.#keep();
    return true;
  }

  #keep(): void {
    this.#kept?.write(this.#entered.filter(({ endsWithServer }) => !endsWithServer));
  }

  isToken(given: string | undefined): boolean {
    const digest = digestOf(given ?? '');
    // All are compared, so that the time says nothing about which one.
    const known = [this.#own, ...stillValid(this.#entered, this.#limits).map((one) => one.digest)];
    const equal = known.filter((one) => timingSafeEqual(one, digest));
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

/** One that is valid for longer than any is given was given before the clock was set back: it would not end in time. */
function stillValid<T extends KeptToken>(
  tokens: readonly T[],
  { pageTokenMs, clockStepMs }: KeyLimits,
): readonly T[] {
  const nowMs = Date.now();
  return tokens.filter(({ untilMs }) => nowMs < untilMs && untilMs <= nowMs + pageTokenMs + clockStepMs);
}

/** 32 random bytes, in letters that addresses and headers can have. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const NONE = Buffer.alloc(32);
