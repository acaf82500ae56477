/** Who calls over HTTP with the token of a session: only a live one that holds its task with this very token. */

import type { Board } from '../../board/port.ts';
import type { AgentName, AttemptId, FencingToken, SessionId, TaskId } from '../../kernel/ids.ts';

export interface SessionCaller {
  readonly kind: 'session';
  readonly session: SessionId;
  readonly token: FencingToken;
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly agent: AgentName;
}

export async function loadSessionCaller(
  board: Pick<Board, 'get'>,
  { session: id, token }: Pick<SessionCaller, 'session' | 'token'>,
): Promise<SessionCaller | undefined> {
  const session = await board.get('session', id);
  if (session?.state.life !== 'live') return undefined;
  const task = await board.get('task', session.task);
  if (task?.state.status !== 'in_progress') return undefined;
  const { claim } = task.state;
  if (claim.session !== id || claim.token !== token || claim.isByHand) return undefined;
  return { kind: 'session', session: id, token, task: task.id, attempt: claim.attempt, agent: claim.agent };
}
