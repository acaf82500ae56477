import { type TakenOver, takeOver } from '../../../agents/act/terminal/take-over.ts';
import { time } from '../../../kernel/time.ts';
import type { Access } from '../../access.ts';
import { orFail } from '../../failure.ts';
import { requireTaskId } from '../../find.ts';
import { requireTerminal } from './no-terminal.ts';

interface Input {
  readonly task: string;
  readonly isKept?: boolean | undefined;
}

/** The terminal is looked for only here: on another machine, or after the end of the agent, the board has the better reason. */
export async function act(access: Access, { task, isKept = false }: Input): Promise<TakenOver> {
  return access.workspaces(async (context) => {
    const id = await requireTaskId(context.board, task);
    const state = (await context.board.get('task', id))?.state;
    const isHere =
      state?.status === 'in_progress' && !state.claim.isByHand && state.claim.node === context.node;
    if (isHere && context.by.kind === 'person') await requireTerminal(context, access.here, id);
    return orFail(await takeOver(context, id, { isKept }));
  });
}

export function view({ task, session, person, isKept, at, isNew }: TakenOver) {
  return { task, session, person, isKept, since: time(at), isNew };
}
