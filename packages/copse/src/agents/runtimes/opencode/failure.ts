/** How a turn of opencode failed, from the `error` that it printed. */

import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { passesByWaiting } from '../api-status.ts';
import { type Fields, fields, number, text } from '../fields.ts';

export function outcomeOfFailure(error: Fields, nowMs: number): RuntimeOutcome {
  const name = text(error, 'name') ?? '';
  const data = fields(error, 'data');
  const reason = text(data, 'message') ?? (name === '' ? 'opencode did not say why.' : name);
  const status = number(data, 'statusCode') ?? (name === 'ProviderAuthError' ? 401 : null);
  if (status === 429 || LIMIT_WORDS.test(reason))
    return { outcome: 'limit', until: untilIn(fields(data, 'responseHeaders'), nowMs), reason };
  // Only of the API: its other errors, such as a model that it does not know, stay as they are.
  const isRetryable =
    name === 'APIError' && (status === null ? data?.['isRetryable'] === true : passesByWaiting(status));
  return { outcome: 'api_error', status, isRetryable, reason };
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
