/** A person takes over the terminal of a task's agent, and gives it back. Both change nothing when they are repeated. */

import { type Context, type Outcome, change } from '../../../board/context.ts';
import { refused } from '../../../kernel/decision.ts';
import type { SessionId, TaskId } from '../../../kernel/ids.ts';
import { refusedFor, statusPredicate } from '../../../tasks/rules/task.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import { machineName } from '../../../workspaces/act/shared/elsewhere.ts';
import { decideSession } from '../../rules/session/session.ts';
import type { GiveBackCause, TerminalTakeOver } from '../../rules/session/take-over.ts';

export interface TakenOver extends TerminalTakeOver {
  readonly task: TaskId;
  readonly session: SessionId;
  /** False: this person had taken over before. */
  readonly isNew: boolean;
}

/** The caller has seen that there is a terminal. */
export async function takeOver(
  context: Pick<WorkspaceContext, 'node'> & Context,
  id: TaskId,
  { isKept }: { readonly isKept: boolean },
): Promise<Outcome<TakenOver>> {
  const { by, node } = context;
  if (by.kind !== 'person') return notForAgents();
  return change(context, async (change) => {
    const task = await change.require('task', id);
    const { state } = task;
    if (state.status !== 'in_progress' || state.claim.isByHand)
      return change.refuse(refusedFor(task, noAgentText(id, state)));
    if (state.claim.node !== node) {
      const machine = await machineName(change.board, state.claim.node);
      const reason = `The agent of ${id} runs on ${machine}.`;
      return change.refuse(refused('wrong_status', reason, `copse take-over ${id} # there`));
    }
    const session = await change.require('session', state.claim.session);
    const wanted = { person: by.name, isKept };
    const { takenOver } = session;
    const isNew = takenOver?.person !== by.name || takenOver.isKept !== isKept;
    if (isNew) await change.apply(decideSession(session, { action: 'take_over', ...wanted }, change.at));
    return {
      ...wanted,
      at: takenOver && !isNew ? takenOver.at : change.at,
      task: id,
      session: session.id,
      isNew,
    };
  });
}

function noAgentText(id: TaskId, state: Parameters<typeof refusedFor>[0]['state']): string {
  return state.status === 'in_progress'
    ? `Cannot take over ${id}: a person works on it, not an agent.`
    : `Cannot take over ${id}: it ${statusPredicate(state.status)}, so no agent runs.`;
}

export interface GivenBack {
  readonly task: TaskId;
  /** False: no person had taken over, or its agent has ended. */
  readonly isNew: boolean;
}

/** Any person may: it takes away the right to type, and nothing else. */
export async function giveBack(
  context: Context,
  id: TaskId,
  because: GiveBackCause,
): Promise<Outcome<GivenBack>> {
  if (context.by.kind === 'session') return notForAgents();
  return change(context, async (change) => {
    const { session: current } = await change.require('task', id);
    const session = current === null ? undefined : await change.board.get('session', current);
    const isNew = session?.takenOver !== undefined;
    if (isNew) await change.apply(decideSession(session, { action: 'give_back', because }, change.at));
    return { task: id, isNew };
  });
}

function notForAgents() {
  return refused('not_this_session', 'Only a person can take over a terminal.', 'copse stuck --reason "…"');
}
