/** How a turn of Claude Code ended, from its result and from what was said about limits before it. */

import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { passesByWaiting } from '../api-status.ts';
import { type Fields, list, number, text } from '../fields.ts';

export interface LimitFacts {
  /** When the plan's limit lifts, if the program said that one was reached. */
  readonly resetsAtMs: number | null;
  /** How long the vendor last wanted it to wait. */
  readonly lastDelayMs: number | null;
  readonly nowMs: number;
}

/** A result with `is_error` is called a success all the same, and one without may be that of an interrupted turn. */
export function outcomeOfResult(result: Fields, limit: LimitFacts): RuntimeOutcome {
  const words = wordsOf(result);
  const ending = text(result, 'terminal_reason') ?? null;
  if (result['is_error'] === false) {
    if (ending?.startsWith('aborted_'))
      return { outcome: 'crashed', exitCode: null, reason: 'its turn was interrupted' };
    return { outcome: 'completed', exitCode: 0, lastWords: words };
  }
  const subtype = text(result, 'subtype');
  if (subtype === 'error_max_budget_usd' || subtype === 'error_max_turns' || ending === 'budget_exhausted')
    return { outcome: 'needs_input', question: `It may not go on: ${words}.` };
  const status = number(result, 'api_error_status') ?? null;
  const kind = text(result, 'api_error_type') ?? null;
  if (status === 429 || kind === 'rate_limit_error' || limit.resetsAtMs !== null || USAGE_LIMIT.test(words))
    return { outcome: 'limit', until: untilOf(words, limit), reason: words };
  if (status !== null || ending === 'api_error' || ending === 'prompt_too_long')
    return { outcome: 'api_error', status, isRetryable: isRetryable(status, ending), reason: words };
  return { outcome: 'crashed', exitCode: null, reason: words };
}

function wordsOf(result: Fields): string {
  const errors = list(result, 'errors').filter((error) => typeof error === 'string');
  const words = [text(result, 'result'), errors.join('\n'), text(result, 'subtype')];
  return words.find(Boolean) ?? 'it did not say why';
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

/** In seconds or milliseconds. */
export function epochMs(value: number): number {
  return Math.round(value < 100_000_000_000 ? value * 1_000 : value);
}

/** No status at all means that nobody was reached. */
function isRetryable(status: number | null, ending: string | null): boolean {
  if (ending === 'prompt_too_long') return false;
  return status === null || passesByWaiting(status);
}
