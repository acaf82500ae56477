/** How a turn of Codex failed: from the error's kind in its record, otherwise from its message. */

import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { durationOf, isRetryableStatus } from '../api-failure.ts';
import { type Fields, fields, isFields, number, text } from '../fields.ts';

export interface CodexFailure {
  readonly message: string;
  /** `codex_error_info`: a word, or an object whose only field is the word. Null when unknown. */
  readonly kind: unknown;
  /** When the reached limits reset, if the vendor reported it. */
  readonly resetsAtMs: number | null;
}

export function outcomeOfFailure({ message, kind, resetsAtMs }: CodexFailure, nowMs: number): RuntimeOutcome {
  const body = bodyIn(message);
  const reason = text(fields(body, 'error'), 'message') ?? message;
  const word = wordOf(kind);
  const status = statusIn(kind) ?? STATUS_OF[word] ?? statusOfWords(message) ?? (body === null ? null : 400);
  // A plan without Codex looks like a limit, but waiting does not help.
  const isLimit = (LIMITS.has(word) || status === 429 || LIMIT_WORDS.test(message)) && !NO_PLAN.test(message);
  if (isLimit) {
    const until = resetsAtMs === null ? untilIn(message, nowMs) : timestamp(Math.ceil(resetsAtMs));
    return { kind: 'limit', until, reason };
  }
  const isRetryable =
    !FINAL.has(word) &&
    !NO_PLAN.test(message) &&
    // No status: the server was not reached, or the answer broke off.
    (status === null || isRetryableStatus(status));
  return { kind: 'api_error', status, isRetryable, reason };
}

const LIMITS: ReadonlySet<string> = new Set(['usage_limit_exceeded', 'rate_limit_exceeded']);
const LIMIT_WORDS = /\busage limit\b|\brate limit\b|\bquota exceeded\b|\b429 Too Many Requests\b/i;
const NO_PLAN = /^To use Codex with your ChatGPT plan/;
const FINAL: ReadonlySet<string> = new Set([
  'context_window_exceeded',
  'session_budget_exceeded',
  'model_not_found',
  'cyber_policy',
  'sandbox_error',
]);

const STATUS_OF: Readonly<Record<string, number>> = {
  internal_server_error: 500,
  server_overloaded: 503,
  unauthorized: 401,
  bad_request: 400,
  model_not_found: 404,
};

/** For a refused request the message is the answer's JSON body. */
function bodyIn(message: string): Fields | null {
  if (!message.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(message);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function wordOf(kind: unknown): string {
  if (typeof kind === 'string') return kind;
  return isFields(kind) ? (Object.keys(kind)[0] ?? '') : '';
}

function statusIn(kind: unknown): number | undefined {
  return isFields(kind) ? number(fields(kind, wordOf(kind)), 'http_status_code') : undefined;
}

function statusOfWords(message: string): number | undefined {
  const [, digits] = /\bstatus:? (\d{3})\b/.exec(message) ?? [];
  if (digits !== undefined) return Number(digits);
  return /currently experiencing high demand/.test(message) ? 500 : undefined;
}

const AFTER =
  /try again in ((?:[\d.]+ ?(?:ms|milliseconds?|days?|hours?|minutes?|mins?|seconds?|[smhd])[ ,]*)+)/i;
const AT = /try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([AP])M/;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** `try again in 1m30s`, `try again at 3:05 PM`, `try again at Nov 20th, 2026 3:05 PM`, in local time. */
function untilIn(message: string, nowMs: number): Timestamp | null {
  const [, after] = AFTER.exec(message) ?? [];
  if (after !== undefined) return timestamp(Math.ceil(nowMs + durationOf(after)));
  const [, month, day, year, hours = '', minutes = '', half] = AT.exec(message) ?? [];
  if (half === undefined) return null;
  const at = new Date(nowMs);
  if (month !== undefined) at.setFullYear(Number(year), MONTHS.indexOf(month), Number(day));
  at.setHours((Number(hours) % 12) + (half === 'P' ? 12 : 0), Number(minutes), 0, 0);
  // The message has no seconds.
  const told = at.getTime() + MINUTE;
  return timestamp(month === undefined && told <= nowMs ? told + DAY : told);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
