/** How a turn ended: from the protocol's stop reason and from the agent's output, because some agents do not report failures. */

import { timestamp } from '../../../kernel/ids.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';
import { isRetryableStatus } from '../api-failure.ts';
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
    const message = failure === '' ? 'The agent failed without a reason.' : failure;
    return outcomeOfFailure({ message, kind: null, resetsAtMs }, nowMs);
  }
  switch (stopReason) {
    case 'refusal':
      return { kind: 'needs_input', question: `Its model refused to go on. ${lastWords}`.trim() };
    case 'cancelled':
      return { kind: 'crashed', exitCode: null, reason: 'its turn was cancelled, but not by Copse' };
    default:
  }
  if (!hasOutput)
    return {
      kind: 'crashed',
      exitCode: null,
      reason: 'it ended its turn without any output',
    };
  // No tools, no usage, and an API's error as the last message: the model failed.
  if (!hasTools && !hasUsage && FAILURE.test(lastWords))
    return outcomeOfFailure({ message: lastWords, kind: null, resetsAtMs }, nowMs);
  return { kind: 'completed', exitCode: null, lastWords };
}

const FAILURE =
  /^\{"error":|\bAPI Error\b|\bstatus:? [45]\d\d\b|\busage limit\b|^stream (?:error|disconnected)|^exceeded retry limit/i;

/** The prompt was answered with an error. */
export function outcomeOfError(error: RpcError, { resetsAtMs }: TurnWords, nowMs: number): RuntimeOutcome {
  const reason = error.message.replace(/^Internal error: /, '');
  if (error.code === AUTHENTICATION)
    return {
      kind: 'api_error',
      status: 401,
      isRetryable: false,
      reason: `${reason}. Log in with the agent’s own program, or give it a key in the agent’s \`env\`.`,
    };
  if (BUDGET.test(reason)) return { kind: 'needs_input', question: `It stopped at its budget: ${reason}.` };
  const kind = text(error.data, 'errorKind') ?? '';
  const status = statusIn(reason);
  if (kind === 'rate_limit' || status === 429 || /\b(?:usage|session|weekly) limit\b/i.test(reason)) {
    const told = outcomeOfFailure({ message: reason, kind: 'rate_limit_exceeded', resetsAtMs }, nowMs);
    return told.kind === 'limit' ? told : { kind: 'limit', until: resetsAt(resetsAtMs), reason };
  }
  if (status === null && !API_KINDS.has(kind)) return { kind: 'crashed', exitCode: null, reason };
  const isRetryable = status === null ? RETRYABLE_KINDS.has(kind) : isRetryableStatus(status);
  return { kind: 'api_error', status, isRetryable, reason };
}

const AUTHENTICATION = -32_000;
/** Claude's own messages; the protocol has none. */
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
