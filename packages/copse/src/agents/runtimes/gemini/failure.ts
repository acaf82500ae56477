/** How a turn of Gemini CLI failed: from the API's answer that it quotes, its exit code, and its message. */

import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { durationOf, isRetryableStatus } from '../api-failure.ts';
import { type Fields, fields, isFields, list, number, text } from '../fields.ts';

export interface GeminiFailure {
  readonly message: string;
  /** Gemini's name of the error; `unknown` for errors of the API. */
  readonly type: string | null;
}

export function outcomeOfFailure(
  { message, type }: GeminiFailure,
  exitCode: number | null,
  nowMs: number,
): RuntimeOutcome {
  const error = fields(answerIn(message), 'error');
  const status = number(error, 'code') ?? statusOfExit(exitCode);
  const reason = text(error, 'message') ?? plain(message);
  if (status === 429 || LIMIT_WORDS.test(message))
    return { kind: 'limit', until: untilIn(error, message, nowMs), reason };
  // A retry does not help against its own limits and start failures; after a broken answer it may.
  const isOwn = type?.startsWith('Fatal') ?? false;
  const isRetryable = !isOwn && (status === null || isRetryableStatus(status));
  return { kind: 'api_error', status, isRetryable, reason };
}

const LIMIT_WORDS =
  /\bquota will reset\b|\bexhausted your (?:daily )?(?:quota|capacity)\b|\bquota exceeded\b/i;

/** The exit code is the last eight bits of the answer's status. */
function statusOfExit(exitCode: number | null): number | null {
  return STATUSES.find((status) => (status & 0xff) === exitCode) ?? null;
}

const STATUSES: readonly number[] = [400, 401, 403, 404, 408, 409, 413, 429, 499, 500, 502, 503, 504];

function answerIn(message: string): Fields | null {
  const begin = message.indexOf('{');
  const end = message.lastIndexOf('}');
  if (begin < 0 || end < begin) return null;
  try {
    const value: unknown = JSON.parse(message.slice(begin, end + 1));
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function plain(message: string): string {
  return message.replace(/^\[API Error: ([\s\S]*?)\](?=\n|$)/, '$1').trim();
}

const AFTER =
  /(?:reset after|retry in|try again in|retry after) ((?:\d+(?:\.\d+)? ?(?:ms|[a-z]*)[ ,]*(?=\d|\W|$))+)/i;

/** `Your quota will reset after 3h20m5s`, `Please retry in 12.5s`, or the delay in Google's answer. */
function untilIn(error: Fields | undefined, message: string, nowMs: number): Timestamp | null {
  const delays = list(error, 'details').flatMap((detail) => text(detail, 'retryDelay') ?? []);
  const words = delays[0] ?? AFTER.exec(message)?.[1];
  if (words === undefined) return null;
  const ms = durationOf(words);
  return ms === 0 ? null : timestamp(Math.ceil(nowMs + ms));
}
