/** The exit codes of commands. */

import { refusedExitCode } from '../kernel/decision.ts';
import type { Failure } from '../operations/failure.ts';

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
