/** Opens everything that agents and the queue need, and closes it when the command ends. */

import { type RunContext, contextOf } from '../queue/context.ts';
import type { OpenRun, OpenRunOptions } from '../compose/run/run.ts';
import type { TaskId } from '../kernel/ids.ts';
import { fail } from '../operations/failure.ts';
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

/** What works on these tasks; they have to be in one repository. */
export async function contextOfAll(context: RunContext, ids: readonly TaskId[]): Promise<RunContext> {
  const places = new Set<RunContext>();
  for (const id of ids) places.add(await contextOf(context, await context.board.get('task', id)));
  const [only = context, ...others] = places;
  if (others.length > 0)
    fail('invalid', 'These tasks are in several repositories.', 'run the command for each repository');
  return only;
}
