/** How a hook of an agent program reaches its runner: without the board, so that it starts quickly and works in a sandbox. */

import { openAsks } from '../agents/files/asks.ts';
import type { Asks } from '../agents/ports/runtime.ts';

export interface AskedRunner {
  readonly asks: Asks;
  readonly folder: string;
}

/** Undefined when no runner started this program. */
export function runnerAsked(env: Readonly<Record<string, string | undefined>>): AskedRunner | undefined {
  const { COPSE_ATTEMPT_ID: attempt, COPSE_ASK_FOLDER: folder } = env;
  return attempt && folder ? { asks: openAsks(attempt), folder } : undefined;
}
