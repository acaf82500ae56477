import { addTask } from '../../../tasks/act/tasks.ts';
import { taskView } from '../../../operations/views/views.ts';
import { type DefinitionOptions, checkAgent, readDefinitionOptions } from './definition-options.ts';
import { orFail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';
import { requireTaskIds, withBoard } from '../../with-board.ts';

interface Options extends DefinitionOptions, BodyOptions {
  readonly depends?: readonly string[];
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const body = await readBody(cli, options);
  await checkAgent(cli, options);
  await withBoard(cli, async (context) => {
    const task = orFail(
      await addTask(context, {
        ...(await readDefinitionOptions(context, options)),
        title: words.join(' '),
        body,
        dependsOn: await requireTaskIds(context.board, options.depends ?? []),
      }),
    );
    if (options.json) cli.output.json(taskView(task));
    else {
      cli.output.line(`Added ${taskLine(task, cli.output, context.clock.now())}`);
      await printAhead(cli, context, task);
    }
  });
}
