/** A person lets a task go on: from a fresh conversation (restart), or in the one it had (resume). */

import { refused } from '../../kernel/decision.ts';
import { type AgentName, type TaskId, brand } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { decideRestart } from '../../tasks/rules/decisions.ts';
import { canTake } from '../../tasks/rules/capabilities.ts';
import { type BeginRequest, beginAttempt } from './begin-attempt.ts';
import { type Outcome, change, refusal } from '../../board/context.ts';
import { removeWorkspace } from '../../workspaces/discard/remove.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import type { RunContext } from '../../queue/context.ts';

export interface GoneOn {
  readonly task: Task;
  /** Who works on it now; null when it waits for its turn. */
  readonly agent: AgentName | null;
}

export async function restartTask(
  context: RunContext,
  id: TaskId,
  answer: string | null,
): Promise<Outcome<GoneOn>> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'failed') return goOn(context, id, { how: 'restart', answer });
  const back = await change(context, async (change) => {
    const failed = await change.require('task', id);
    await change.apply(decideRestart(failed, null, change.at, context.policy.lease));
    return change.require('task', id);
  });
  if (!back.ok) return back;
  // Nobody is there to hear it now; the next attempt reads it.
  if (answer !== null) await addLedgerEntry(context, id, { kind: 'decision', text: answer });
  return { ok: true, value: { task: back.value, agent: null } };
}

export async function resumeTask(
  context: RunContext,
  id: TaskId,
  message: string | null,
): Promise<Outcome<GoneOn>> {
  return goOn(context, id, { how: 'resume', message });
}

async function goOn(context: RunContext, id: TaskId, request: BeginRequest): Promise<Outcome<GoneOn>> {
  const { board } = context;
  const task = await board.get('task', id);
  if (task === undefined) {
    return refusal(refused('not_found', `There is no task ${id} on the board.`, 'copse list'));
  }
  const agent = await agentFor(context, task);
  if (agent === undefined) {
    return refusal(
      refused(
        'invalid',
        `No agent here may take ${id}.`,
        `copse why ${id}`,
        `copse work ${id} (to go on by hand)`,
      ),
    );
  }
  // It goes on from the target. Where the worktree that landed is still wanted, it goes on there.
  if (task.state.status === 'done') await removeWorkspace(context, id, { by: 'landing' });
  const begun = await beginAttempt(context, id, agent, request);
  if (!begun.ok) return begun;
  const after = (await board.get('task', id)) ?? task;
  return { ok: true, value: { task: after, agent: begun.value.begun ? agent : null } };
}

/** The one that worked on it before, if it is still there; else the first that may. */
async function agentFor({ board, agents }: RunContext, task: Task): Promise<AgentName | undefined> {
  const session = task.session === null ? undefined : await board.get('session', task.session);
  const able = agents
    .map(({ name, capabilities }) => ({ name: brand<AgentName>(name), capabilities }))
    .filter((agent) => canTake(task, agent).kind === 'can');
  return (able.find(({ name }) => name === session?.agent) ?? able[0])?.name;
}
