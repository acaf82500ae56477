/** How a turn of Claude Code ended: from its result, from the limits it reported before, and from how its process ended. */

import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { ProgramEnd } from '../../../processes/ports/programs.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { isRetryableStatus } from '../api-failure.ts';
import { type Fields, list, number, text } from '../fields.ts';

/** A completed result counts only with exit code 0. */
export function outcomeOf(
  end: ProgramEnd,
  told: RuntimeOutcome | undefined,
  lastLines: readonly string[],
): RuntimeOutcome {
  const exitCode = end.kind === 'exited' ? end.code : null;
  if (told !== undefined && told.kind !== 'crashed' && (told.kind !== 'completed' || exitCode === 0))
    return told;
  const reason = [endReason(end), ...(told?.kind === 'crashed' ? [told.reason] : []), ...lastLines];
  return { kind: 'crashed', exitCode, reason: reason.join('\n') };
}

function endReason(end: ProgramEnd): string {
  switch (end.kind) {
    case 'exited':
      return end.code === 0
        ? 'Claude Code ended without a result'
        : `Claude Code ended with exit code ${end.code}`;
    case 'signalled':
      return `Claude Code was killed by ${end.signal}`;
    case 'vanished':
      return end.why ?? 'the terminal of Claude Code was closed';
    default:
      throw new Error(`A program cannot end by ${String(end satisfies never)}`);
  }
}

export interface LimitFacts {
  /** When the plan's limit resets, if one was reached. */
  readonly resetsAtMs: number | null;
  /** The last retry delay that the vendor asked for. */
  readonly lastDelayMs: number | null;
  readonly nowMs: number;
}

/** The subtype `success` also appears with `is_error`; and a result without `is_error` may be of an interrupted turn. */
export function outcomeOfResult(result: Fields, limit: LimitFacts): RuntimeOutcome {
  const words = wordsOf(result);
  const ending = text(result, 'terminal_reason') ?? null;
  if (result['is_error'] === false) {
    if (ending?.startsWith('aborted_'))
      return { kind: 'crashed', exitCode: null, reason: 'its turn was interrupted' };
    return { kind: 'completed', exitCode: 0, lastWords: words };
  }
  const subtype = text(result, 'subtype');
  if (subtype === 'error_max_budget_usd' || subtype === 'error_max_turns' || ending === 'budget_exhausted')
    return { kind: 'needs_input', question: `It stopped at a limit: ${words}.` };
  const status = number(result, 'api_error_status') ?? null;
  const kind = text(result, 'api_error_type') ?? null;
  if (status === 429 || kind === 'rate_limit_error' || limit.resetsAtMs !== null || USAGE_LIMIT.test(words))
    return { kind: 'limit', until: untilOf(words, limit), reason: words };
  if (status !== null || ending === 'api_error' || ending === 'prompt_too_long')
    return { kind: 'api_error', status, isRetryable: isRetryable(status, ending), reason: words };
  return { kind: 'crashed', exitCode: null, reason: words };
}

function wordsOf(result: Fields): string {
  const errors = list(result, 'errors').filter((error) => typeof error === 'string');
  const words = [text(result, 'result'), errors.join('\n'), text(result, 'subtype')];
  return words.find(Boolean) ?? 'no reason given';
}

/** `Claude AI usage limit reached|1749924000`, `You've hit your limit · resets 8:03am (UTC)` */
const USAGE_LIMIT = /\busage limit\b|^You've (?:hit|reached) your\b|\bout of (?:extra )?usage\b/i;
const EPOCH = /\|(\d{10,13})\b/;

function untilOf(words: string, { resetsAtMs, lastDelayMs, nowMs }: LimitFacts): Timestamp | null {
  const [, epoch] = EPOCH.exec(words) ?? [];
  const told = resetsAtMs ?? (epoch === undefined ? null : epochMs(Number(epoch)));
  const ms = told ?? (lastDelayMs === null ? null : Math.ceil(nowMs + lastDelayMs));
  return ms !== null && Number.isSafeInteger(ms) ? timestamp(ms) : null;
}

/** The value is in seconds or in milliseconds. */
export function epochMs(value: number): number {
  return Math.round(value < 100_000_000_000 ? value * 1_000 : value);
}

/** No status means that the server was not reached. */
function isRetryable(status: number | null, ending: string | null): boolean {
  if (ending === 'prompt_too_long') return false;
  return status === null || isRetryableStatus(status);
}
