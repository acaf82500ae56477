import { type GivenBack, giveBack } from '../../../agents/act/terminal/take-over.ts';
import type { Access } from '../../access.ts';
import { orFail } from '../../failure.ts';
import { requireTaskId } from '../../find.ts';

interface Input {
  readonly task: string;
}

export async function act(access: Access, { task }: Input): Promise<GivenBack> {
  return access.board(async (context) => {
    const id = await requireTaskId(context.board, task);
    return orFail(await giveBack(context, id, 'asked'));
  });
}

export function view({ task, isNew }: GivenBack) {
  return { task, isNew };
}
