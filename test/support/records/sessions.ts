/** Sessions of agents, as they are once a runner has begun one: claimed, opened, with a worktree and its environment. */

import { change } from '../../../packages/copse/src/board/context.ts';
import { decideClaim } from '../../../packages/copse/src/tasks/rules/claim.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type AgentName,
  type AttemptId,
  type FencingToken,
  type SessionId,
  type TaskId,
  brand,
  drawId,
} from '../../../packages/copse/src/kernel/ids.ts';
import { must } from './tasks.ts';
import type { Project } from '../workspaces/workspaces.ts';

export interface AgentSession {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly token: FencingToken;
  readonly worktree: string;
  /** Where and how its programs run. */
  readonly at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
}

export async function startSession(
  project: Project,
  task: TaskId,
  agent: AgentName = brand('coder'),
): Promise<AgentSession> {
  const { context } = project;
  const session = brand<SessionId>(drawId('se-', Math.random));
  const attempt = brand<AttemptId>(drawId('at-', Math.random));
  const { node } = context;
  const token = must(
    await change(context, async (change) => {
      const before = await change.require('task', task);
      const claimant = { session, attempt, node, agent };
      await change.apply(decideClaim(before, claimant, change.at, context.policy.lease));
      const of = { task, agent, workItem: null, follows: before.session };
      await change.apply(
        decided({ type: 'session.opened', id: session, at: change.at, ...of, phase: 'registered' }),
      );
      const { token } = await change.require('task', task);
      await change.apply(
        decided({ type: 'attempt.started', id: attempt, at: change.at, session, task, node, token }),
      );
      return token;
    }),
  );
  const { path: worktree } = await project.prepare(task);
  const env = {
    COPSE_TASK_ID: task,
    COPSE_SESSION_ID: session,
    COPSE_ATTEMPT_ID: attempt,
    COPSE_TOKEN: String(token),
    COPSE_WORKTREE_PATH: worktree,
  };
  return { task, session, attempt, token, worktree, at: { cwd: worktree, env } };
}
