/** How a turn of opencode failed, from its `error`. */

import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { isRetryableStatus } from '../api-failure.ts';
import { type Fields, fields, number, text } from '../fields.ts';

export function outcomeOfFailure(error: Fields, nowMs: number): RuntimeOutcome {
  const name = text(error, 'name') ?? '';
  const data = fields(error, 'data');
  const reason = text(data, 'message') ?? (name === '' ? 'opencode gave no reason.' : name);
  const status = number(data, 'statusCode') ?? (name === 'ProviderAuthError' ? 401 : null);
  if (status === 429 || LIMIT_WORDS.test(reason))
    return { kind: 'limit', until: untilIn(fields(data, 'responseHeaders'), nowMs), reason };
  // Only errors of the API: a retry does not help against others, for example an unknown model.
  const isRetryable =
    name === 'APIError' && (status === null ? data?.['isRetryable'] === true : isRetryableStatus(status));
  return { kind: 'api_error', status, isRetryable, reason };
}

const LIMIT_WORDS = /\busage limit\b|\brate limit\b|\bquota exceeded\b/i;

/** `retry-after` is a number of seconds or a date. */
function untilIn(headers: Fields | undefined, nowMs: number): Timestamp | null {
  const ms = Number(text(headers, 'retry-after-ms') ?? Number.NaN);
  if (ms > 0) return timestamp(Math.ceil(nowMs + ms));
  const after = text(headers, 'retry-after');
  if (after === undefined) return null;
  const at = /^[\d.]+$/.test(after) ? nowMs + Number(after) * 1_000 : Date.parse(after);
  return Number.isFinite(at) ? timestamp(Math.ceil(at)) : null;
}
