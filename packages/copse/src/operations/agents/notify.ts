import { raiseAttention } from '../../agents/act/answer.ts';
import type { Attention } from '../../agents/rules/session/session.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { withReport } from './reporting.ts';

interface Input {
  readonly task?: string | undefined;
  /** Null: the agent no longer waits. */
  readonly attention: Attention | null;
  readonly message?: string | undefined;
}

interface Notified {
  readonly task: TaskId;
  readonly attention: Attention | null;
  readonly isNew: boolean;
}

export async function act(access: Access, input: Input): Promise<Notified> {
  const { attention, message = null } = input;
  return withReport(access, input.task, async (context, { task }) => {
    const after = await context.board.lastEvent();
    const raised = orFail(await raiseAttention(context, task, { attention, message }));
    if (raised === 'raised') access.announce(after);
    return { task, attention, isNew: raised === 'raised' };
  });
}

export function view({ task, attention, isNew }: Notified) {
  return { task, attention, isNew };
}
