import { tryAgain } from '../../queue/act/control.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskIds } from '../find.ts';

interface Input {
  readonly tasks: readonly string[];
}

export async function act(access: Access, { tasks }: Input): Promise<readonly Landing[]> {
  return access.run(async (context) => {
    const landings: Landing[] = [];
    for (const id of await requireTaskIds(context.board, tasks))
      landings.push(orFail(await tryAgain(context, id)));
    return landings;
  });
}

export function view(landings: readonly Landing[]) {
  return { landings: landings.map(({ id, task, target, head }) => ({ id, task, target, head })) };
}
