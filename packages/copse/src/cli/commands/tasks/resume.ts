import { resumeTask } from '../../../agents/act/go-on.ts';
import type { Invocation } from '../../invocation.ts';
import { printStarted } from '../../after/task-changes.ts';
import { orFail } from '../../../operations/failure.ts';
import { contextOfAll, withRun } from '../../with-run.ts';
import { requireTaskId } from '../../with-board.ts';

interface Options {
  readonly message?: string;
  readonly command?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, { command: options.command }, async (run) => {
    const id = await requireTaskId(run.board, words[0] ?? '');
    const context = await contextOfAll(run, [id]);
    const resumed = orFail(await resumeTask(context, id, options.message ?? null));
    await printStarted(cli, context, { ...resumed, act: 'Resumed' }, options);
  });
}
