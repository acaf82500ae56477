/** Opens everything that agents and the queue need, and closes it when the command ends. */

import type { RunContext } from '../queue/context.ts';
import type { OpenRun, OpenRunOptions } from '../compose/run/run.ts';
import type { Cli } from './invocation.ts';

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
