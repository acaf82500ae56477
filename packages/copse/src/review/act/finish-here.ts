/** Finishing from inside a worktree: a look ahead for an agent that is about to stop, and the whole way for a person. */

import type { TaskId } from '../../kernel/ids.ts';
import { type Refused, refused } from '../../kernel/decision.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { endAttemptWith } from '../../agents/run/end.ts';
import { type Outcome, refusal } from '../../board/context.ts';
import { type GateLook, lookAtGate } from '../../agents/run/finish.ts';
import { attendPullRequest } from './pull-request-follow.ts';
import { submittedOf } from './pull-request-record.ts';
import { pushFinished } from '../../agents/run/push-finished.ts';
import type { FinishReport } from '../../agents/act/report.ts';
import { type RunContext, agentNamed } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

/** What the gate would say, as far as that can be told at once. */
export async function previewFinish(
  context: RunContext,
  id: TaskId,
  report: FinishReport,
): Promise<Refused | undefined> {
  const look = await lookHere(context, id, report, true);
  return look === undefined ? undefined : refusalOf(look, id);
}

/** For work by hand: through the gate, and on as the landing policy says. */
export async function finishByHand(
  context: RunContext,
  id: TaskId,
  report: FinishReport,
): Promise<Outcome<Task>> {
  const task = await context.board.get('task', id);
  const claim = task?.state.status === 'in_progress' ? task.state.claim : undefined;
  const look = await lookHere(context, id, report, false);
  if (claim === undefined || look === undefined) {
    return refusal(refused('wrong_status', `${id} is not being worked on here.`, `copse work ${id}`));
  }
  const shut = refusalOf(look, id);
  if (shut) return refusal(shut);
  const { session, attempt, token } = claim;
  const { policy } = context.landing;
  const pushed = await pushFinished(context, id, look, { policy, settings: context.settings });
  if (!pushed.goesOn)
    return refusal(refused('wrong_status', `${id} is not finished. ${pushed.reason}`, 'copse finish'));
  const ending = { to: 'finished', gate: look, policy, push: pushed.push } as const;
  const ended = await endAttemptWith(context, { task: id, session, attempt, token }, ending, null);
  // Somebody is there who would like to see it.
  if (!ended.ok || submittedOf(ended.value) === undefined) return ended;
  await attendPullRequest(context, id);
  return { ok: true, value: (await context.board.get('task', id)) ?? ended.value };
}

async function lookHere(
  context: RunContext,
  id: TaskId,
  { noChanges, summary }: FinishReport,
  isPreview: boolean,
): Promise<GateLook | undefined> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'in_progress') return undefined;
  const agent = agentNamed(context, task.state.claim.agent);
  const { finish, landing, settings: workspace } = context;
  const worktree = (await workspaceOf(context, id))?.worktree ?? null;
  return lookAtGate(context, {
    task,
    worktree,
    agent: agent ?? { finish, landing, workspace },
    saysNoChanges: noChanges,
    summary,
    environment: {},
    isPreview,
  });
}

function refusalOf({ verdict }: GateLook, id: TaskId): Refused | undefined {
  if (verdict.gate === 'open') return undefined;
  return refused('wrong_status', `${id} is not finished. ${verdict.reason}`, 'copse finish');
}
