import { type Why, whyTask } from '../../explain/why.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { splitRemark } from '../../kernel/shell.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskOrHere } from '../task-here.ts';
import { taskView } from '../views/views.ts';

interface Input {
  readonly task?: string | undefined;
}

export async function act(access: Access, input: Input): Promise<Why & { readonly at: Timestamp }> {
  return access.look(async (context) => {
    const id = await requireTaskOrHere(context.board, access, input.task);
    const isOrchestrated = await access.here.isOrchestrated();
    return { ...orFail(await whyTask(context, id, { isOrchestrated })), at: context.clock.now() };
  });
}

export function view({ task, because, next }: Why) {
  return { task: taskView(task), because, next: next.map((step) => splitRemark(step).command) };
}
