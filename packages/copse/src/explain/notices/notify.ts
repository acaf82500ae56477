/**
 * `copse notify`: a hook of an agent program, or a person, reports that an agent waits for a person. It is recorded as the
 * session's attention, and so announced like every other event.
 */

import { refused } from '../../kernel/decision.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { type Attention, decideSession } from '../../agents/rules/session/session.ts';
import { statusPredicate, suggestCommands } from '../../tasks/rules/task.ts';
import { checkBody } from '../../kernel/text.ts';
import { openQuestionOf } from '../../agents/act/answer.ts';
import { type Context, type Outcome, change, refusal } from '../../board/context.ts';
import { invalid } from '../../tasks/act/definition.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';

export interface Raising {
  /** Null: the agent no longer waits. */
  readonly attention: Attention | null;
  readonly message: string | null;
}

/** `unchanged`: nothing was recorded, because it is known, or because an open question says more. */
export type Raised = 'raised' | 'unchanged';

export async function raiseAttention(
  context: Context,
  id: TaskId,
  { attention, message }: Raising,
): Promise<Outcome<Raised>> {
  const foreign = await refuseForeignTask(context, id);
  if (foreign) return refusal(foreign);
  const text = checkBody(message?.trim() ?? '');
  if (!text.ok) return refusal(invalid(text.reason, 'copse notify --help'));
  return change(context, async (change) => {
    await change.requireMine(id);
    const task = await change.require('task', id);
    const session =
      task.state.status === 'in_progress'
        ? await change.board.get('session', task.state.claim.session)
        : undefined;
    if (session?.state.life !== 'live') {
      const reason = `${id} ${statusPredicate(task.state.status)}: no agent is working on it.`;
      return change.refuse(refused('wrong_status', reason, ...suggestCommands(task)));
    }
    const isKnown = session.state.attention === attention && text.body === '';
    if (isKnown || (await openQuestionOf(change.board, task)) !== undefined) return 'unchanged';
    const more = text.body === '' ? {} : { message: text.body };
    await change.apply(decideSession(session, { action: 'attend', attention, ...more }, change.at));
    return 'raised';
  });
}
