import type { Context } from '../../../board/context.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { fail } from '../../../operations/failure.ts';
import { act, view } from '../../../operations/tasks/add.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { printAhead } from '../../after/ahead.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { taskLine } from '../../screen/render.ts';
import { type DefinitionOptions, noteUnknownAgent, readDefinitionOptions } from './definition-options.ts';

interface Options extends DefinitionOptions, BodyOptions {
  readonly depends?: readonly string[];
  readonly item?: string;
  readonly from?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  if (options.item !== undefined) return runItem(cli, words, options);
  if (words.length === 0) fail('usage', 'copse add needs a title or --item.', 'copse add --help');
  const body = await readBody(cli, options);
  await withAccess(cli, async (access) => {
    await noteUnknownAgent(cli, access, options);
    const { depends: dependsOn, from } = options;
    const definition = { ...readDefinitionOptions(options), body };
    const task = await act(access, { ...definition, title: words.join(' '), dependsOn, from });
    if (options.json) return cli.output.json(view(task));
    await access.board((context) => print(cli, context, task));
  });
}

async function print(cli: Cli, context: Context, task: TaskSummary): Promise<void> {
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
  const addItem = await import('../../../operations/tasks/add-item.ts');
  await withAccess(cli, async (access) => {
    const task = await addItem.act(access, { item });
    if (options.json) return cli.output.json(addItem.view(task));
    await access.run((context) => print(cli, context, task));
  });
}
