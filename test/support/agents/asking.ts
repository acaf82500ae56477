/** The events of a running agent (questions, usage), recorded on the board by a runner's own code, without an agent. */

import type { AttemptContext } from '../../../packages/copse/src/agents/run/context.ts';
import { SessionRecorder } from '../../../packages/copse/src/agents/run/session-recorder.ts';
import { systemTimer } from '../../../packages/copse/src/compose/parts.ts';
import type { AgentSession } from '../records/sessions.ts';
import type { Project } from '../workspaces/workspaces.ts';

export function recorderOf(
  project: Project,
  { task, session, token }: AgentSession,
): Promise<SessionRecorder> {
  const context = {
    ...project.context,
    by: { kind: 'session', session, token },
    clock: systemTimer,
    agent: { limits: {} },
    log: () => {},
  };
  // A recorder uses no other fields of the context and of the orders.
  return SessionRecorder.open(
    context as unknown as AttemptContext,
    { task, session, conversation: null } as never,
  );
}
