/** Ends the session and the attempt of a task, in the transaction in which a person takes the task away from them. */

import type { Attempt } from '../rules/attempt.ts';
import { decided } from '../../kernel/decision.ts';
import { type SessionRequest, decideSession } from '../../agents/rules/session/session.ts';
import type { Task } from '../rules/task.ts';
import type { Change } from '../../board/context.ts';

/** `task` as it was before. Returns the running attempt, whose processes the caller still has to end. */
export async function endSession(
  change: Change,
  task: Task,
  request: Extract<SessionRequest, { action: 'cancel' } | { action: 'interrupt' }>,
): Promise<Attempt | undefined> {
  const claim = task.state.status === 'in_progress' ? task.state.claim : null;
  const session = task.session === null ? undefined : await change.board.get('session', task.session);
  if (session && isOpen(session.state.life, request))
    await change.apply(decideSession(session, request, change.at));
  const attempt = claim === null ? undefined : await change.board.get('attempt', claim.attempt);
  if (attempt?.end === null) {
    const reason = request.action === 'cancel' ? 'cancelled' : request.because;
    const of = { type: 'attempt.ended', id: attempt.id, at: change.at, reason, exitCode: null } as const;
    await change.apply(decided(of));
  }
  return attempt;
}

function isOpen(life: string, { action }: SessionRequest): boolean {
  return action === 'cancel' ? life !== 'cancelled' : life === 'live' || life === 'stuck';
}
