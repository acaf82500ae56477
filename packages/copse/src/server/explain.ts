/** Failures as answers, in the words of the command line. */

import { KeyTakenOver } from '../board/lent.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import { OperationFailed } from '../operations/failure.ts';
import { type HttpAnswer, problemAnswer } from './answer.ts';
import { problem } from './rules/problem.ts';

export function explain(error: unknown, onProblem: (text: string) => void): HttpAnswer {
  if (error instanceof OperationFailed) {
    const { code, reason, next, task } = error.failure;
    return problemAnswer({ ...problem(code, reason, ...next), ...(task !== undefined && { task }) });
  }
  if (error instanceof Unavailable)
    return problemAnswer(problem(error.isMissing ? 'not_found' : 'unavailable', error.message, error.remedy));
  if (error instanceof KeyTakenOver) return keyPending();
  onProblem(`A request failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return problemAnswer(
    problem('unexpected', 'The server made a mistake; its terminal says more.', 'copse doctor'),
  );
}

export function keyPending(): HttpAnswer {
  const text =
    'Another request with this Idempotency-Key is being carried out. Send it again for its answer.';
  return problemAnswer(problem('key_pending', text, 'copse events --last 5'), { 'retry-after': '1' });
}
