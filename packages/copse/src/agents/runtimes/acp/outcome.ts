/** How a turn ended, from the protocol's own reason and from what the agent said: not every agent tells that it failed. */

import { timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { passesByWaiting } from '../api-status.ts';
import { text } from '../fields.ts';
import { outcomeOfFailure } from '../codex/failure.ts';
import type { RpcError } from './rpc.ts';
import type { TurnWords } from './updates.ts';

export function outcomeOfStop(
  stopReason: string,
  words: TurnWords,
  hasUsage: boolean,
  nowMs: number,
): RuntimeOutcome {
  const { failure, lastWords, hasTools, hasOutput, resetsAtMs } = words;
  if (failure !== null) {
    const message = failure === '' ? 'The agent failed, and did not say why.' : failure;
    return outcomeOfFailure({ message, kind: null, resetsAtMs }, nowMs);
  }
  switch (stopReason) {
    case 'refusal':
      return { outcome: 'needs_input', question: `Its model refused to go on. ${lastWords}`.trim() };
    case 'cancelled':
      return { outcome: 'crashed', exitCode: null, reason: 'its turn was cancelled, and not by Copse' };
    default:
  }
  if (!hasOutput)
    return {
      outcome: 'crashed',
      exitCode: null,
      reason: 'it ended its turn without having said or done anything',
    };
  // One that did nothing, used nothing and says what an API says has not worked.
  if (!hasTools && !hasUsage && FAILURE.test(lastWords))
    return outcomeOfFailure({ message: lastWords, kind: null, resetsAtMs }, nowMs);
  return { outcome: 'completed', exitCode: null, lastWords };
}

const FAILURE =
  /^\{"error":|\bAPI Error\b|\bstatus:? [45]\d\d\b|\busage limit\b|^stream (?:error|disconnected)|^exceeded retry limit/i;

/** An error in place of an answer. */
export function outcomeOfError(error: RpcError, { resetsAtMs }: TurnWords, nowMs: number): RuntimeOutcome {
  const reason = error.message.replace(/^Internal error: /, '');
  if (error.code === AUTHENTICATION)
    return {
      outcome: 'api_error',
      status: 401,
      isRetryable: false,
      reason: `${reason}. Log in with the agent’s own program, or give it a key in the agent’s \`env\`.`,
    };
  if (BUDGET.test(reason)) return { outcome: 'needs_input', question: `It may not go on: ${reason}.` };
  const kind = text(error.data, 'errorKind') ?? '';
  const status = statusIn(reason);
  if (kind === 'rate_limit' || status === 429 || /\b(?:usage|session|weekly) limit\b/i.test(reason)) {
    const told = outcomeOfFailure({ message: reason, kind: 'rate_limit_exceeded', resetsAtMs }, nowMs);
    return told.outcome === 'limit' ? told : { outcome: 'limit', until: resetsAt(resetsAtMs), reason };
  }
  if (status === null && !API_KINDS.has(kind)) return { outcome: 'crashed', exitCode: null, reason };
  const isRetryable = status === null ? RETRYABLE_KINDS.has(kind) : passesByWaiting(status);
  return { outcome: 'api_error', status, isRetryable, reason };
}

const AUTHENTICATION = -32_000;
/** Claude's own words for it; the protocol has none. */
const BUDGET = /\bmaximum budget\b|\berror_max_budget_usd\b/i;
const RETRYABLE_KINDS: ReadonlySet<string> = new Set(['server_error', 'overloaded']);
const API_KINDS: ReadonlySet<string> = new Set([
  ...RETRYABLE_KINDS,
  'authentication_failed',
  'billing_error',
  'invalid_request',
  'model_not_found',
  'max_output_tokens',
]);

function resetsAt(ms: number | null): ReturnType<typeof timestamp> | null {
  return ms === null ? null : timestamp(ms);
}

/** `API Error: 400 …`, `Request rejected (429)` */
function statusIn(reason: string): number | null {
  const [, first, second] = /\bAPI Error: (\d{3})\b|\((\d{3})\)/.exec(reason) ?? [];
  const digits = first ?? second;
  return digits === undefined ? null : Number(digits);
}
