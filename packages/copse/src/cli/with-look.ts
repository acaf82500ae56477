/** Opens what showing work needs, for as long as a command needs it. */

import type { LookContext } from '../app/run-context.ts';
import { type OpenLook, openLook } from '../compose/look.ts';
import type { Cli } from './invocation.ts';

export async function withLook<T>(
  cli: Cli,
  work: (context: LookContext, unusable: OpenLook['unusable']) => Promise<T>,
): Promise<T> {
  const { context, unusable } = await openLook(cli);
  try {
    return await work(context, unusable);
  } finally {
    await context.board.close();
  }
}
