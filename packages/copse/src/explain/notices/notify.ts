/**
 * An agent that waits for a person, told from outside: by a hook of its program, or by somebody who sees it wait. It becomes
 * the session's attention, and so an event that is announced like every other.
 */

import { refused } from '../../kernel/decision.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { type Attention, decideSession } from '../../agents/rules/session/session.ts';
import { suggestCommands } from '../../tasks/rules/task.ts';
import { checkBody } from '../../kernel/text.ts';
import { openQuestionOf } from '../../agents/act/answer.ts';
import { type Context, type Outcome, change, refusal } from '../../board/context.ts';
import { invalid } from '../../tasks/act/definition.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';

export interface Raising {
  /** Null: it goes on by itself. */
  readonly attention: Attention | null;
  readonly message: string | null;
}

/** `as_it_was`: nothing was recorded, because that is known, or because a question says more. */
export type Raised = 'raised' | 'as_it_was';

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
      const reason = `${id} is ${task.state.status}: no agent works on it that could wait for a person.`;
      return change.refuse(refused('wrong_status', reason, ...suggestCommands(task)));
    }
    const isKnown = session.state.attention === attention && text.body === '';
    if (isKnown || (await openQuestionOf(change.board, task)) !== undefined) return 'as_it_was';
    const more = text.body === '' ? {} : { message: text.body };
    await change.apply(decideSession(session, { action: 'attend', attention, ...more }, change.at));
    return 'raised';
  });
}
