import { cancelTask } from '../../../agents/act/stop-task.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { printStopped } from '../../after/task-changes.ts';
import { withRunOf } from '../../with-run.ts';

interface Options {
  readonly reason?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRunOf(cli, words, async (context, id) => {
    await printStopped(cli, context, orFail(await cancelTask(context, id, options.reason ?? null)), options);
  });
}
