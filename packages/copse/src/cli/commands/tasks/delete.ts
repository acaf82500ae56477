import { deleteTasks } from '../../../tasks/act/tasks.ts';
import { shown } from '../../../kernel/text.ts';
import { taskView } from '../../../operations/views/views.ts';
import { orFail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { requireTaskIds, withBoard } from '../../with-board.ts';

interface Options {
  readonly unlink?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async (context) => {
    const ids = [...new Set(await requireTaskIds(context.board, words))];
    const deleted = orFail(await deleteTasks(context, ids, { unlink: options.unlink ?? false }));
    if (!options.json) for (const task of deleted) cli.output.line(`Deleted ${task.id} ${shown(task.title)}`);
    if (options.json) cli.output.json({ deleted: deleted.map((task) => taskView(task)) });
  });
}
