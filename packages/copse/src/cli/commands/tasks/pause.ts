import { pauseTask } from '../../../agents/act/stop-task.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { printStopped } from '../../after/task-changes.ts';
import { withRunOf } from '../../with-run.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withRunOf(cli, words, async (context, id) => {
    await printStopped(cli, context, orFail(await pauseTask(context, id)), options);
  });
}
