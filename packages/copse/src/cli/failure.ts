/** A command's failure: what happened, what to do next, and the exit code. */

import type { Outcome } from '../board/context.ts';
import { type RefusalCode, refusedExitCode } from '../kernel/decision.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: refusedExitCode,
  /** Everything was done that can be done without a person. */
  needsPerson: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface Failure {
  readonly code: RefusalCode | 'usage' | 'unavailable' | 'unhealthy' | 'needs_person' | 'unexpected';
  readonly reason: string;
  /** What to do next, the most likely first. */
  readonly next: readonly string[];
  /** The task whose status refused it. */
  readonly task?: string;
}

export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

export function orFail<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'done') return outcome.value;
  throw new CommandFailed(outcome.refusal);
}

export function fail(code: Failure['code'], reason: string, ...next: readonly [string, ...string[]]): never {
  throw new CommandFailed({ code, reason, next });
}

export function exitCodeOf(code: Failure['code']): ExitCode {
  switch (code) {
    case 'invalid':
    case 'usage':
      return exitCodes.usage;
    case 'not_found':
      return exitCodes.notFound;
    case 'needs_person':
      return exitCodes.needsPerson;
    case 'unavailable':
    case 'unhealthy':
    case 'unexpected':
      return exitCodes.failed;
    default:
      return exitCodes.refused;
  }
}
