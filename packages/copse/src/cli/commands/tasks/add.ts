import { addTask } from '../../../tasks/act/tasks.ts';
import { taskView } from '../../../operations/views/views.ts';
import { type DefinitionOptions, checkAgent, readDefinitionOptions } from './definition-options.ts';
import type { Context } from '../../../board/context.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { isAddedResult } from '../../../tasks/rules/ledger.ts';
import { type ImportSource, type TaskSummary, isFinished } from '../../../tasks/rules/task.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';
import { requireTaskId, requireTaskIds, withBoard } from '../../with-board.ts';
import { withRun } from '../../with-run.ts';

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
  await checkAgent(cli, options);
  await withBoard(cli, async (context) => {
    const depends = await requireTaskIds(context.board, options.depends ?? []);
    const source = await readSource(context, options);
    const task = orFail(
      await addTask(context, {
        ...(await readDefinitionOptions(context, options)),
        title: words.join(' '),
        body,
        dependsOn: [...depends, ...(source?.dependsOn ?? [])],
        ...(source && { from: source.from, kind: options.kind ?? 'import' }),
      }),
    );
    await print(cli, context, task, options);
  });
}

/** An import of a task that is not done yet waits for it. */
async function readSource(
  { board }: Context,
  { from }: Options,
): Promise<{ readonly from: ImportSource; readonly dependsOn: readonly TaskId[] } | undefined> {
  if (from === undefined) return undefined;
  const { findArtifacts, requireArtifact } = await import('../artifacts/artifact-text.ts');
  if (/^ar-/i.test(from) || (await findArtifacts(board, from)).length === 1) {
    const artifact = await requireArtifact(board, from);
    const { id, task, kind } = artifact;
    if (!isAddedResult(artifact))
      fail(
        'invalid',
        `${id} is a ${kind} of ${task}: only files and URIs are imported.`,
        `copse artifact list ${task}`,
      );
    return { from: { task, artifact: id }, dependsOn: [] };
  }
  const task = await requireTaskId(board, from);
  const results = (await board.list('artifact', { task })).filter(isAddedResult);
  const status = (await board.statuses([task])).get(task);
  if (results.length === 0 && (status === undefined || isFinished(status)))
    fail('invalid', `${task} has no file and no URI to import.`, `copse artifact list ${task}`);
  return { from: { task, artifact: null }, dependsOn: [task] };
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
