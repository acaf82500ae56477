/** `copse finish` inside a worktree: a preview of the gate for an agent, and the whole way for a person. */

import type { TaskId } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { shown } from '../../kernel/text.ts';
import { unfinishedSteps } from '../../queue/rules/unfinished.ts';
import { type Refused, refused } from '../../kernel/decision.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { endAttemptWith } from '../../agents/run/end.ts';
import type { Outcome } from '../../board/context.ts';
import { type GateLook, lookAtGate } from '../../agents/run/finish.ts';
import { attendPullRequest } from './pull-request-follow.ts';
import { submittedOf } from './pull-request-record.ts';
import { shareHead } from '../../workspaces/act/shared/share-work.ts';
import { pushFinished } from '../../agents/run/share/push-finished.ts';
import type { FinishReport } from '../../agents/act/report.ts';
import { type RunContext, agentNamed } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

/** What the gate would refuse, as far as it can be told without running commands. */
export async function previewFinish(
  context: RunContext,
  id: TaskId,
  report: FinishReport,
): Promise<Refused | undefined> {
  const look = await lookHere(context, id, report, true);
  return look === undefined ? undefined : refusalOf(context, look, id);
}

/** For work by hand: through the gate, then on by the landing policy. */
export async function finishByHand(
  context: RunContext,
  id: TaskId,
  report: FinishReport,
): Promise<Outcome<Task>> {
  const task = await context.board.get('task', id);
  const claim = task?.state.status === 'in_progress' ? task.state.claim : undefined;
  const look = await lookHere(context, id, report, false);
  if (claim === undefined || look === undefined) {
    return refused('wrong_status', `You are not working on ${id} here.`, `copse work ${id}`);
  }
  const shut = await refusalOf(context, look, id);
  if (shut) return shut;
  const { session, attempt, token } = claim;
  const { policy } = context.landing;
  const pushed = await pushFinished(context, id, look, { policy, settings: context.settings });
  if (pushed.kind === 'failed')
    return refused('wrong_status', `${id} is not finished. ${pushed.reason}`, 'copse finish');
  const notes = pushed.note === null ? [] : [pushed.note];
  if (look.head !== null) await shareHead(context, { task: id, token }, look.head);
  const ending = { kind: 'finished', gate: look, policy, push: pushed.push, notes } as const;
  const ended = await endAttemptWith(context, { task: id, session, attempt, token }, ending, null);
  // A person waits: open the pull request now, and not in the orchestrator's next pass.
  if (ended.kind === 'refused' || submittedOf(ended.value) === undefined) return ended;
  await attendPullRequest(context, id);
  return { kind: 'done', value: (await context.board.get('task', id)) ?? ended.value };
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
  const place = await workspaceOf(context, id);
  return lookAtGate(context, {
    task,
    worktree: place?.worktree ?? null,
    checkout: place?.checkout,
    agent: agent ?? { finish, landing, workspace },
    saysNoChanges: noChanges,
    summary,
    environment: {},
    isPreview,
  });
}

async function refusalOf(
  context: RunContext,
  { verdict, target }: GateLook,
  id: TaskId,
): Promise<Refused | undefined> {
  if (verdict.kind === 'passed') return undefined;
  const { reason } = verdict;
  const isEmpty = verdict.because === 'nothing_committed';
  const unchanged = `copse finish ${id} --no-changes # if there is nothing to change`;
  if (verdict.because === 'no_artifact')
    return refused(
      'wrong_status',
      `${id} is not finished. ${reason}`,
      'copse artifact add --help',
      unchanged,
    );
  const at = (await workspaceOf(context, id))?.worktree?.path;
  const again = `copse finish ${id}`;
  const words = `${id} is not finished. ${reason}`;
  if (verdict.operation !== undefined && at !== undefined) {
    const what = verdict.because === 'dirty' ? inProgress(id, verdict.operation) : words;
    return refused('wrong_status', what, ...unfinishedSteps(id, at, verdict.operation, 'finish'));
  }
  if (isEmpty) return refused('wrong_status', words, unchanged, `${again} # after your commit`);
  if (verdict.because === 'conflict' && verdict.files.length > 0 && at !== undefined) {
    const sync = `copse sync ${id} --conflict # to merge ${shown(target ?? 'the target')} into it`;
    return refused('wrong_status', words, sync, `${again} # after you resolve it and commit`);
  }
  const inside = at === undefined || verdict.because !== 'dirty' ? null : `git -C ${shellWord(at)}`;
  if (inside === null) return refused('wrong_status', words, again);
  const commitAll = `${inside} add --all && ${inside} commit # to commit all of them`;
  return refused('wrong_status', words, commitAll, `${again} # after your commit`);
}

function inProgress(id: TaskId, operation: string): string {
  return `${id} is not finished: a ${shown(operation)} is in progress in its worktree.`;
}
