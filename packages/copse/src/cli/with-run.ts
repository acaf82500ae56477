/** Opens everything that agents and the queue need, and closes it when the command ends. */

import { type RunContext, contextOf } from '../queue/context.ts';
import type { OpenRun, OpenRunOptions } from '../compose/run/run.ts';
import type { TaskId } from '../kernel/ids.ts';
import type { Cli } from './invocation.ts';
import { requireTaskId } from './with-board.ts';

export async function withRun<T>(
  cli: Cli,
  options: OpenRunOptions,
  work: (context: RunContext, unusable: OpenRun['unusable']) => Promise<T>,
): Promise<T> {
  const { openRun } = await import('../compose/run/run.ts');
  const run = await openRun(cli, options);
  try {
    return await work(run.context, run.unusable);
  } finally {
    await run.close();
  }
}

export async function withRunOf<T>(
  cli: Cli,
  words: readonly string[],
  work: (context: RunContext, id: TaskId) => Promise<T>,
): Promise<T> {
  return withRun(cli, {}, async (context) => {
    const id = await requireTaskId(context.board, words[0] ?? '');
    return work(await contextOf(context, await context.board.get('task', id)), id);
  });
}
