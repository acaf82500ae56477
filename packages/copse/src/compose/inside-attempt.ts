/** What the programs of an attempt reach without the board, also from inside a sandbox: the runner, by files. */

import { openAsks } from '../agents/files/asks.ts';
import type { Asks } from '../agents/ports/runtime.ts';
import type { AttemptId } from '../kernel/ids.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface RunnerAsked {
  readonly asks: Asks;
  readonly folder: string;
}

/** For the questions of hooks; undefined when no runner started this program. */
export function runnerAsked(env: Environment): RunnerAsked | undefined {
  const { COPSE_ATTEMPT_ID: attempt, COPSE_ASK_FOLDER: folder } = env;
  return attempt && folder ? { asks: openAsks(attempt), folder } : undefined;
}

/** For commands that the runner runs; undefined when no runner started this program. */
export function runnerCalled(env: Environment): RunnerAsked | undefined {
  const { COPSE_ATTEMPT_ID: attempt, COPSE_RUNNER_FOLDER: folder } = env;
  return attempt && folder ? { asks: openCommandAsks(attempt), folder } : undefined;
}

export function openCommandAsks(attempt: string | AttemptId): Asks {
  return openAsks(`${attempt}-commands`);
}
