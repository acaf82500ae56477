/** Agents that ask, use and wait: what a runtime would pass on to the board, said for them by the code of a runner. */

import type { AttemptContext } from '../../../packages/copse/src/agents/run/context.ts';
import { Hearing } from '../../../packages/copse/src/agents/run/hear-turn.ts';
import { systemTimer } from '../../../packages/copse/src/compose/parts.ts';
import type { AgentSession } from '../records/sessions.ts';
import type { Project } from '../workspaces/workspaces.ts';

/** The runner's ear for a session. */
export function hearingOf(project: Project, { task, session, token }: AgentSession): Promise<Hearing> {
  const context = {
    ...project.context,
    by: { kind: 'session', session, token },
    clock: systemTimer,
    agent: { limits: {} },
    log: () => {},
  };
  // The rest of both is for other parts of a runner.
  return Hearing.open(context as unknown as AttemptContext, { task, session, conversation: null } as never);
}
