/** A person continues a task: in a new conversation (restart), or in its own (resume). */

import { type Refused, refused } from '../../kernel/decision.ts';
import { type AgentName, type TaskId, brand } from '../../kernel/ids.ts';
import { type Task, refuseUnlessAllowed } from '../../tasks/rules/task.ts';
import { decideRestart } from '../../tasks/rules/decisions.ts';
import { describeUntaken, lackOfAgents } from '../../explain/rules/waiting.ts';
import { agentCanTake } from '../../machines/rules/offer.ts';
import { type BeginRequest, beginAttempt } from './begin-attempt.ts';
import { type Outcome, change } from '../../board/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { removeWorkspace } from '../../workspaces/discard/remove.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import { isForAny } from '../../queue/act/continue-steps.ts';
import type { RunContext } from '../../queue/context.ts';

export interface GoneOn {
  readonly task: Task;
  /** Who works on it now; null while it waits for a free agent. */
  readonly agent: AgentName | null;
}

/** A failed task waits for its turn, unless the person gave it a `command` to use as the agent. */
export async function restartTask(
  context: RunContext,
  id: TaskId,
  { answer, command }: { readonly answer: string | null; readonly command?: string | undefined },
): Promise<Outcome<GoneOn>> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'failed') {
    const begun = await goOn(context, id, { kind: 'restart', answer });
    // For the attempt after a crash, and for people who ask later what was answered.
    if (begun.kind === 'done' && answer !== null) await addLedgerEntry(context, id, decisionOf(answer));
    return begun;
  }
  if (command !== undefined && (await agentFor(context, task)) === undefined)
    return refuseWithoutAgent(context, task);
  const back = await change(context, async (change) => {
    const failed = await change.require('task', id);
    await change.apply(decideRestart(failed, null, change.at, context.policy.lease));
    return change.require('task', id);
  });
  if (back.kind === 'refused') return back;
  // The next attempt reads the answer in the ledger.
  if (answer !== null) await addLedgerEntry(context, id, decisionOf(answer));
  if (command !== undefined) return goOn(context, id, { kind: 'claim' });
  return { kind: 'done', value: { task: back.value, agent: null } };
}

function decisionOf(text: string) {
  return { kind: 'decision', text } as const;
}

export async function resumeTask(
  context: RunContext,
  id: TaskId,
  message: string | null,
): Promise<Outcome<GoneOn>> {
  return goOn(context, id, { kind: 'resume', message });
}

async function goOn(context: RunContext, id: TaskId, request: BeginRequest): Promise<Outcome<GoneOn>> {
  const { board } = context;
  const task = await board.get('task', id);
  if (task === undefined) {
    return refused('not_found', `There is no task ${id} on the board.`, 'copse list');
  }
  const wrong = refuseUnlessAllowed(task, request.kind);
  if (wrong) return wrong;
  const agent = await agentFor(context, task);
  if (agent === undefined) return refuseWithoutAgent(context, task, withCommand(id, request));
  // Continues from the target. A worktree that cannot be removed is used again.
  if (task.state.status === 'done') await removeWorkspace(context, id, { by: 'landing' });
  const begun = await beginAttempt(context, id, agent, request);
  if (begun.kind === 'refused') return begun;
  const after = (await board.get('task', id)) ?? task;
  return { kind: 'done', value: { task: after, agent: begun.value.kind === 'started' ? agent : null } };
}

/** A command that was given to an orchestrator is unknown to this process. */
function withCommand(id: TaskId, request: BeginRequest): string | null {
  const text =
    request.kind === 'resume' ? request.message : request.kind === 'restart' ? request.answer : undefined;
  if (text === undefined) return null;
  const said = text === null ? '' : request.kind === 'resume' ? ' --message "…"' : ' --answer "…"';
  return `copse ${request.kind} ${id}${said} --command "…" # with a command as its agent`;
}

async function refuseWithoutAgent(
  context: RunContext,
  task: Task,
  byCommand: string | null = null,
): Promise<Refused> {
  const byHand = await commandByHand(context, task);
  const lack = lackOfAgents(context);
  if (lack !== null) {
    const commands = byCommand !== null && isForAny(task) ? [byCommand, byHand] : [byHand];
    return refused('invalid', `${task.id} cannot start. ${lack.text}`, lack.command, ...commands);
  }
  const reason =
    describeUntaken(task, context.agents, []) ?? 'This machine lacks something that it requires.';
  return refused('invalid', `${task.id} cannot start. ${reason}`, `copse why ${task.id}`, byHand);
}

/** A person cannot take a done task again, only add another one. */
async function commandByHand(context: RunContext, { id, state }: Task): Promise<string> {
  if (state.status === 'done') return 'copse add "…" # to continue by hand, in a new task';
  const hasWorktree = Boolean((await workspaceOf(context, id))?.worktree);
  return `copse work ${id}${hasWorktree ? ' --resume' : ''} # to continue by hand`;
}

/** The agent that worked on it before, if it is still configured; otherwise the first that may. */
async function agentFor({ board, agents, node }: RunContext, task: Task): Promise<AgentName | undefined> {
  const session = task.session === null ? undefined : await board.get('session', task.session);
  const offering = (await board.get('node', node))?.facts ?? null;
  const able = agents
    .map(({ name, capabilities }) => ({ name: brand<AgentName>(name), capabilities }))
    .filter((agent) => agentCanTake(task, agent, offering).kind === 'can');
  return (able.find(({ name }) => name === session?.agent) ?? able[0])?.name;
}
