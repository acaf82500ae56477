/**
 * Reports about a task by its agent, or by a person who works by hand: finished, stuck, phase, heartbeat.
 *
 * An agent's runner reads the report and acts on it when the agent's process has ended, so `finished` and `stuck` of an agent
 * only write the report. A person who works by hand has no runner: their report is acted on at once.
 */

import { refuseUnlessHeld } from '../../tasks/rules/claim.ts';
import { type Refused, refused } from '../../kernel/decision.ts';
import type { FencingToken, TaskId } from '../../kernel/ids.ts';
import { type OpenPhase, type Session, decideSession, openPhases } from '../rules/session/session.ts';
import { type Task, statusPredicate, refusedFor } from '../../tasks/rules/task.ts';
import { decideStuck } from '../../tasks/rules/outcomes.ts';
import { checkBody } from '../../kernel/text.ts';
import type { Report } from '../rules/session/report.ts';
import type { Artifacts, Reports } from '../ports/runners.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { invalid } from '../../tasks/act/definition.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';
import { holderText } from '../../workspaces/act/shared/elsewhere.ts';
import { type WorkspaceContext, isHeldByHand, workspaceOf } from '../../workspaces/act/context.ts';

export interface ReportContext extends WorkspaceContext {
  readonly reports: Reports;
  readonly artifacts: Artifacts;
}

export interface ReportedTask {
  readonly task: TaskId;
  /** Whether the command runs inside the task's worktree. */
  readonly isInside: boolean;
}

/** `report`: the runner acts on it. `by_hand`: it is done, or the caller does it. */
export type ReportHandling = 'report' | 'by_hand';

export interface FinishReport {
  readonly noChanges: boolean;
  readonly summary: string | null;
}

/**
 * Writes nothing for work by hand: the caller runs the gate. An agent is told at once what the gate would refuse, while it can
 * still fix it.
 */
export async function reportFinish(
  context: ReportContext,
  about: ReportedTask,
  { noChanges, summary }: FinishReport,
  preview: () => Promise<Refused | undefined>,
): Promise<Outcome<ReportHandling>> {
  const spoken = await speakFor(context, about);
  if (spoken.kind === 'refused') return spoken;
  const text = checkBody(summary ?? '');
  if (text.kind === 'refused') return invalid(text.reason, 'copse finish --help');
  if (spoken.value.isByHand) return { kind: 'done', value: 'by_hand' };
  const shut = await preview();
  if (shut) {
    // If this was the agent's last command, it wanted to finish, with any exit code of its program.
    await writeReport(context, about.task, { triedToFinish: true });
    return shut;
  }
  return writeReport(context, about.task, {
    status: 'finished',
    ...(noChanges && { noChanges }),
    ...(text.body.trim() !== '' && { summary: text.body }),
  });
}

export async function reportStuck(
  context: ReportContext,
  about: ReportedTask,
  reason: string,
): Promise<Outcome<ReportHandling>> {
  const spoken = await speakFor(context, about);
  if (spoken.kind === 'refused') return spoken;
  const text = checkBody(reason);
  if (text.kind === 'refused') return invalid(text.reason, 'copse stuck --help');
  const { task, token, isByHand } = spoken.value;
  // The same decision as later in the transaction, so that an agent is refused while it can still fix it.
  const decision = decideStuck(task, token, text.body, context.clock.now());
  if (decision.kind === 'refused') return decision;
  if (!isByHand) return writeReport(context, task.id, { status: 'stuck', reason: text.body });
  return change(context, async (change) => {
    const held = await requireHeld(change, task.id, token);
    await change.apply(decideStuck(held.task, token, text.body, change.at));
    await change.apply(decideSession(held.session, { action: 'stick', reason: text.body }, change.at));
    return 'by_hand' as const;
  });
}

/** Reporting the current phase again changes nothing. */
export async function reportPhase(
  context: ReportContext,
  about: ReportedTask,
  word: string,
): Promise<Outcome<OpenPhase>> {
  const phase = openPhases.find((known) => known === word);
  if (phase === undefined) return unknownPhase(word);
  const spoken = await speakFor(context, about);
  if (spoken.kind === 'refused') return spoken;
  return change(context, async (change) => {
    const { session } = await requireHeld(change, about.task, spoken.value.token);
    const { state } = session;
    const isCurrent = state.life === 'live' && state.phase === phase && state.attention === null;
    if (!isCurrent) await change.apply(decideSession(session, { action: 'advance', phase }, change.at));
    return phase;
  });
}

export async function reportHeartbeat(context: ReportContext, about: ReportedTask): Promise<Outcome<TaskId>> {
  const spoken = await speakFor(context, about);
  if (spoken.kind === 'refused') return spoken;
  const { task, token, isByHand } = spoken.value;
  // The runner renews an agent's lease; an agent's own renewal would hide a dead runner.
  if (!isByHand) return { kind: 'done', value: task.id };
  const renewal = await context.board.renewLease(task.id, token, context.clock.now());
  if (renewal.kind === 'renewed') return { kind: 'done', value: task.id };
  const now = (await context.board.get('task', task.id)) ?? task;
  return refuseUnlessHeld(now, token) ?? notHeld(now);
}

/** The folder of a task's report: its worktree, or its context folder if it has none. */
export function reportFolder(
  { home }: Pick<WorkspaceContext, 'home'>,
  task: TaskId,
  worktree: string | null,
) {
  return worktree ?? `${home}/.copse/context/${task}`;
}

interface Speaker {
  readonly task: Task;
  readonly token: FencingToken;
  readonly isByHand: boolean;
}

/**
 * A session reports for its own task with its token. A person reports for a task that they hold by hand, and inside a worktree
 * also for its agent, because there they could write the report file as well.
 */
async function speakFor(
  context: ReportContext,
  { task: id, isInside }: ReportedTask,
): Promise<Outcome<Speaker>> {
  const { board, by, node } = context;
  const foreign = await refuseForeignTask(context, id);
  if (foreign) return foreign;
  const task = await board.get('task', id);
  if (task === undefined) {
    return refused('not_found', `There is no task ${id} on the board.`, 'copse list');
  }
  if (by.kind === 'session') {
    const lost = refuseUnlessHeld(task, by.token);
    return lost ?? { kind: 'done', value: { task, token: by.token, isByHand: false } };
  }
  if (task.state.status !== 'in_progress') return notHeld(task);
  const { claim } = task.state;
  const isByHand = isHeldByHand(context, task);
  if (isByHand || (isInside && !claim.isByHand && claim.node === node)) {
    return { kind: 'done', value: { task, token: claim.token, isByHand } };
  }
  return refusedFor(
    task,
    `${await holderText(board, id, claim)}; only that ${claim.isByHand ? 'person' : 'agent'} can report it.`,
    'not_this_session',
  );
}

async function writeReport(
  context: ReportContext,
  task: TaskId,
  report: Report,
): Promise<Outcome<ReportHandling>> {
  const workspace = await workspaceOf(context, task);
  context.reports.write(reportFolder(context, task, workspace?.worktree?.path ?? null), report);
  return { kind: 'done', value: 'report' };
}

async function requireHeld(
  change: Change,
  id: TaskId,
  token: FencingToken,
): Promise<{ readonly task: Task; readonly session: Session }> {
  const task = await change.require('task', id);
  const lost = refuseUnlessHeld(task, token);
  if (lost || task.state.status !== 'in_progress') change.refuse(lost ?? notHeld(task));
  return { task, session: await change.require('session', task.state.claim.session) };
}

function notHeld(task: Task): Refused {
  return refusedFor(
    task,
    `${task.id} ${statusPredicate(task.state.status)}: no agent and no person works on it.`,
  );
}

function unknownPhase(word: string): Refused {
  const instead = word === 'complete' ? 'copse finish' : word === 'stuck' ? 'copse stuck --reason "…"' : null;
  return invalid(
    `${JSON.stringify(word)} is not a phase. Phases: ${openPhases.join(', ')}.`,
    instead ?? 'copse phase working',
  );
}
