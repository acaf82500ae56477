/** An operation's failure: what happened, and what to do next. Expected ones come from a room as an outcome. */

import type { Outcome } from '../board/context.ts';
import type { RefusalCode } from '../kernel/decision.ts';
import { Unavailable } from '../kernel/unavailable.ts';

export interface Failure {
  readonly code: RefusalCode | 'usage' | 'unavailable' | 'unhealthy' | 'needs_person' | 'unexpected';
  readonly reason: string;
  /** What to do next, the most likely first. */
  readonly next: readonly string[];
  /** The task whose status refused it. */
  readonly task?: string;
}

export class OperationFailed extends Error {
  override readonly name = 'OperationFailed';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

export function orFail<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'done') return outcome.value;
  throw new OperationFailed(outcome.refusal);
}

export function fail(code: Failure['code'], reason: string, ...next: readonly [string, ...string[]]): never {
  throw new OperationFailed({ code, reason, next });
}

/** For a surface that catches everything: any other error is a fault of Copse. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OperationFailed) return error.failure;
  if (error instanceof Unavailable)
    return { code: 'unavailable', reason: error.message, next: [error.remedy] };
  const surprise = error instanceof Error ? error.message : String(error);
  return { code: 'unexpected', reason: `Unexpected error: ${surprise}`, next: ['copse doctor'] };
}
