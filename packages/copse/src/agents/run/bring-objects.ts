/**
 * While an agent in a sandbox works, its new objects are brought into the repository again and again: its branches are those
 * of the repository, and people and other tasks read them.
 */

import type { RunningAttempt } from './surroundings.ts';

export function keepBringing({ context, orders }: Pick<RunningAttempt, 'context' | 'orders'>): {
  stop(): Promise<void>;
} {
  const over = new AbortController();
  const done =
    context.agent.sandbox === 'none' ? Promise.resolve() : bringUntil(context, orders, over.signal);
  return {
    stop: () => {
      over.abort();
      return done;
    },
  };
}

async function bringUntil(
  { git, clock, policy, log }: RunningAttempt['context'],
  { task }: RunningAttempt['orders'],
  over: AbortSignal,
): Promise<void> {
  let told = '';
  while (!over.aborted) {
    try {
      await git.stores.bring(task);
    } catch (error) {
      // When the turn is over they are brought once more, and a failure there ends the attempt.
      const why = String(error);
      if (why !== told) log(`Objects could not be brought: ${why}`);
      told = why;
    }
    await clock.sleep(policy.session.bringObjectsMs, over);
  }
}
