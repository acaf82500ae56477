/** Opens the board of the current repository, and closes it when the command ends. */

import type { Context } from '../board/context.ts';
import { type OpenContextOptions, openContext } from '../compose/open.ts';
import type { Cli } from './invocation.ts';

export async function withBoard<T>(
  cli: Cli,
  work: (context: Context) => Promise<T>,
  options?: OpenContextOptions,
): Promise<T> {
  const context = await openContext(cli, undefined, options);
  try {
    return await work(context);
  } finally {
    await context.board.close();
  }
}
