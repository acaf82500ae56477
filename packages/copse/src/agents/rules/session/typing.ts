/** Who may type into the terminal of an agent, by the board. */

import { type Refused, refused } from '../../../kernel/decision.ts';
import type { NodeId } from '../../../kernel/ids.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import type { Session } from './session.ts';
import { personName } from './take-over.ts';

/** Whether a take-over on this machine ends because its last page was closed. */
export function giveBackOnceClosed(
  { state }: Pick<TaskSummary, 'state'>,
  session: Session | undefined,
  node: NodeId,
): boolean {
  const isHere =
    state.status === 'in_progress' && state.claim.session === session?.id && state.claim.node === node;
  return isHere && session.takenOver?.isKept === false;
}

export interface Typist {
  readonly person: string | null;
  readonly node: NodeId;
}

/** Asked before each input, with the task and the session as the board has them now. Null: it may be passed on. */
export function refuseTyping(
  task: Pick<TaskSummary, 'id' | 'state'>,
  session: Session | undefined,
  { person, node }: Typist,
): Refused | null {
  const { id, state } = task;
  const isWorking = state.status === 'in_progress' && state.claim.session === session?.id;
  if (!isWorking || session?.state.life !== 'live')
    return refused('wrong_status', `The agent of ${id} has ended: nothing was typed.`, `copse why ${id}`);
  if (state.claim.node !== node)
    return refused('wrong_status', `The agent of ${id} runs on another machine now.`, `copse why ${id}`);
  const { takenOver } = session;
  if (takenOver === undefined)
    return refused('wrong_status', `Take over ${id} before you type.`, `copse take-over ${id}`);
  if (takenOver.person !== person) {
    const reason = `${personName(takenOver.person)} has taken over the terminal of ${id}, not you.`;
    return refused('wrong_status', reason, `copse give-back ${id}`);
  }
  return null;
}
