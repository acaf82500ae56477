import { editTask } from '../../../tasks/act/tasks.ts';
import { type TaskId, resolvePrefix } from '../../../kernel/ids.ts';
import type { Board } from '../../../board/port.ts';
import { taskView } from '../../../operations/views/views.ts';
import { type DefinitionOptions, checkAgent, readDefinitionOptions } from './definition-options.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';
import { requireTaskId, requireTaskIds, withBoard } from '../../with-board.ts';

interface Options extends DefinitionOptions, BodyOptions {
  readonly title?: string;
  readonly depends?: readonly string[];
  readonly notDepends?: readonly string[];
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const body = await readBody(cli, options);
  await checkAgent(cli, options);
  await withBoard(cli, async (context) => {
    const { board } = context;
    const id = await requireTaskId(board, words[0] ?? '');
    const task = orFail(
      await editTask(context, id, {
        ...(await readDefinitionOptions(context, options)),
        title: options.title,
        body,
        addDependencies: await requireTaskIds(board, options.depends ?? []),
        removeDependencies: await requireDependencies(board, id, options.notDepends ?? []),
      }),
    );
    if (options.json) cli.output.json(taskView(task));
    else {
      cli.output.line(`Changed ${taskLine(task, cli.output, context.clock.now())}`);
      await printAhead(cli, context, task);
    }
  });
}

/** A dependency may have been deleted; its id is still in the task. */
async function requireDependencies(
  board: Board,
  id: TaskId,
  texts: readonly string[],
): Promise<readonly TaskId[]> {
  const dependsOn = (await board.get('task', id))?.dependsOn ?? [];
  const ids: TaskId[] = [];
  for (const text of texts) {
    const own = resolvePrefix(text, dependsOn);
    ids.push(own.kind === 'found' ? own.id : await requireTaskId(board, text));
  }
  return ids;
}
