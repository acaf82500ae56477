/**
 * What is said about a task by whoever works on it: finished, stuck, how far, still alive.
 *
 * An agent has a runner, which waits for its report and does what follows once the agent's process has ended. So for an
 * agent, finished and stuck are reports and change nothing by themselves. A person who works by hand has no runner; what
 * they say is done at once.
 */

import { refuseUnlessHeld } from '../../tasks/rules/claim.ts';
import { type Refused, refused } from '../../kernel/decision.ts';
import type { FencingToken, TaskId } from '../../kernel/ids.ts';
import { type OpenPhase, type Session, decideSession, openPhases } from '../rules/session/session.ts';
import { type Task, suggestCommands } from '../../tasks/rules/task.ts';
import { decideStuck } from '../../tasks/rules/outcomes.ts';
import { checkBody } from '../../kernel/text.ts';
import type { Report, Reports } from '../ports/reports.ts';
import { type Change, type Outcome, change, refusal } from '../../board/context.ts';
import { invalid } from '../../tasks/act/definition.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';
import { type WorkspaceContext, isHeldByHand, workspaceOf } from '../../workspaces/act/context.ts';

export interface ReportContext extends WorkspaceContext {
  readonly reports: Reports;
}

export interface About {
  readonly task: TaskId;
  /** Whether it is said from inside the worktree of the task. */
  readonly isInside: boolean;
}

/** `report`: its runner takes it from here. `by_hand`: it is done, or for the caller to do. */
export type Said = 'report' | 'by_hand';

export interface FinishReport {
  readonly noChanges: boolean;
  readonly summary: string | null;
}

/**
 * For work by hand nothing is written: who finishes it runs the gate. An agent is told at once what the gate would say, while
 * it can still do better.
 */
export async function reportFinish(
  context: ReportContext,
  about: About,
  { noChanges, summary }: FinishReport,
  preview: () => Promise<Refused | undefined>,
): Promise<Outcome<Said>> {
  const spoken = await speakFor(context, about);
  if (!spoken.ok) return spoken;
  const text = checkBody(summary ?? '');
  if (!text.ok) return refusal(invalid(text.reason, 'copse finish --help'));
  if (spoken.value.isByHand) return { ok: true, value: 'by_hand' };
  const shut = await preview();
  if (shut) {
    // An agent whose last word this was still wanted to finish, whatever its program ends with.
    await writeReport(context, about.task, { triedToFinish: true });
    return refusal(shut);
  }
  return writeReport(context, about.task, {
    status: 'finished',
    ...(noChanges && { noChanges }),
    ...(text.body.trim() !== '' && { summary: text.body }),
  });
}

export async function reportStuck(
  context: ReportContext,
  about: About,
  reason: string,
): Promise<Outcome<Said>> {
  const spoken = await speakFor(context, about);
  if (!spoken.ok) return spoken;
  const text = checkBody(reason);
  if (!text.ok) return refusal(invalid(text.reason, 'copse stuck --help'));
  const { task, token, isByHand } = spoken.value;
  // The same question as the transition asks, so that an agent hears the answer while it can still do better.
  const decision = decideStuck(task, token, text.body, context.clock.now());
  if (!decision.decided) return refusal(decision);
  if (!isByHand) return writeReport(context, task.id, { status: 'stuck', reason: text.body });
  return change(context, async (change) => {
    const held = await requireHeld(change, task.id, token);
    await change.apply(decideStuck(held.task, token, text.body, change.at));
    await change.apply(decideSession(held.session, { action: 'stick', reason: text.body }, change.at));
    return 'by_hand' as const;
  });
}

/** Saying again what is so already changes nothing. */
export async function reportPhase(
  context: ReportContext,
  about: About,
  word: string,
): Promise<Outcome<OpenPhase>> {
  const phase = openPhases.find((known) => known === word);
  if (phase === undefined) return refusal(unknownPhase(word));
  const spoken = await speakFor(context, about);
  if (!spoken.ok) return spoken;
  return change(context, async (change) => {
    const { session } = await requireHeld(change, about.task, spoken.value.token);
    const { state } = session;
    const isSo = state.life === 'live' && state.phase === phase && state.attention === null;
    if (!isSo) await change.apply(decideSession(session, { action: 'advance', phase }, change.at));
    return phase;
  });
}

export async function reportHeartbeat(context: ReportContext, about: About): Promise<Outcome<TaskId>> {
  const spoken = await speakFor(context, about);
  if (!spoken.ok) return spoken;
  const { task, token, isByHand } = spoken.value;
  // For an agent its runner renews; an agent that did so itself would hide a runner that no longer does.
  if (!isByHand) return { ok: true, value: task.id };
  const renewal = await context.board.renewLease(task.id, token, context.clock.now());
  if (renewal.kind === 'renewed') return { ok: true, value: task.id };
  const now = (await context.board.get('task', task.id)) ?? task;
  return refusal(refuseUnlessHeld(now, token) ?? notHeld(now));
}

/** Where the report about a task is: its worktree, or the folder that holds its context if it has none. */
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
 * A session speaks with its own token for its own task. A person speaks for what they hold by hand, and inside a worktree
 * also for the agent there: whoever can write its report may as well use the command.
 */
async function speakFor(context: ReportContext, { task: id, isInside }: About): Promise<Outcome<Speaker>> {
  const { board, by, node } = context;
  const foreign = await refuseForeignTask(context, id);
  if (foreign) return refusal(foreign);
  const task = await board.get('task', id);
  if (task === undefined) {
    return refusal(refused('not_found', `There is no task ${id} on the board.`, 'copse list'));
  }
  if (by.kind === 'session') {
    const lost = refuseUnlessHeld(task, by.token);
    return lost ? refusal(lost) : { ok: true, value: { task, token: by.token, isByHand: false } };
  }
  if (task.state.status !== 'in_progress') return refusal(notHeld(task));
  const { claim } = task.state;
  const isByHand = isHeldByHand(context, task);
  if (isByHand || (isInside && !claim.isByHand && claim.node === node)) {
    return { ok: true, value: { task, token: claim.token, isByHand } };
  }
  return refusal(
    refused(
      'not_this_session',
      `${id} is being worked on by ${claim.agent} on ${claim.node}, and only they can say this about it.`,
      ...suggestCommands(task),
    ),
  );
}

async function writeReport(context: ReportContext, task: TaskId, report: Report): Promise<Outcome<Said>> {
  const workspace = await workspaceOf(context, task);
  context.reports.write(reportFolder(context, task, workspace?.worktree?.path ?? null), report);
  return { ok: true, value: 'report' };
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
  return refused(
    'wrong_status',
    `${task.id} is ${task.state.status}: nobody is working on it.`,
    ...suggestCommands(task),
  );
}

export function unknownPhase(word: string): Refused {
  const instead = word === 'complete' ? 'copse finish' : word === 'stuck' ? 'copse stuck --reason "…"' : null;
  return invalid(
    `${JSON.stringify(word)} is not a phase one can be in; there are ${openPhases.join(', ')}.`,
    instead ?? 'copse phase working',
  );
}
