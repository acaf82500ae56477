import { addTask } from '../../../tasks/act/tasks.ts';
import { taskView } from '../../../operations/views/views.ts';
import { type DefinitionOptions, checkAgent, readDefinitionOptions } from './definition-options.ts';
import type { Context } from '../../../board/context.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { fail, orFail } from '../../failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';
import { requireTaskIds, withBoard } from '../../with-board.ts';
import { withRun } from '../../with-run.ts';

interface Options extends DefinitionOptions, BodyOptions {
  readonly depends?: readonly string[];
  readonly item?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  if (options.item !== undefined) return runItem(cli, words, options);
  if (words.length === 0) fail('usage', 'copse add needs a title or --item.', 'copse add --help');
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
    await print(cli, context, task, options);
  });
}

async function print(cli: Cli, context: Context, task: TaskSummary, options: Options): Promise<void> {
  if (options.json) return cli.output.json(taskView(task));
  cli.output.line(`Added ${taskLine(task, cli.output, context.clock.now())}`);
  await printAhead(cli, context, task);
}

/** Its source has the title and the text. */
async function runItem(
  cli: Cli,
  words: readonly string[],
  { item = '', ...options }: Options,
): Promise<void> {
  const { json: _, ...others } = options;
  if (words.length > 0 || Object.values(others).some((value) => value !== undefined))
    fail('usage', '--item takes the title and the text from the source.', `copse add --item ${item}`);
  await withRun(cli, {}, async (context) => {
    const { addItem } = await import('../../../intake/act/one-item.ts');
    await print(cli, context, orFail(await addItem(context, item)), options);
  });
}
