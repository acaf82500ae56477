import { restartTask } from '../../../agents/act/go-on.ts';
import type { Invocation } from '../../invocation.ts';
import { printStarted } from '../../after/task-changes.ts';
import { orFail } from '../../../operations/failure.ts';
import { contextOfAll, withRun } from '../../with-run.ts';
import { requireTaskId } from '../../with-board.ts';

interface Options {
  readonly answer?: string;
  readonly command?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, { command: options.command }, async (run) => {
    const id = await requireTaskId(run.board, words[0] ?? '');
    const context = await contextOfAll(run, [id]);
    const { answer = null, command } = options;
    const restarted = orFail(await restartTask(context, id, { answer, command }));
    await printStarted(cli, context, { ...restarted, act: 'Restarted' }, options);
  });
}
