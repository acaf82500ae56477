/** Looks again and again beside the orchestrator's passes, so that whoever lists tasks sees collisions without waiting. */

import type { Timer } from '../kernel/clock.ts';
import { type RadarContext, refreshRadar } from './radar.ts';

interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onProblem: (reason: string) => void;
}

type WatchContext = RadarContext & { readonly clock: Timer };

/** Until the signal; a last look comes after it, so that what happened meanwhile is seen, and does not take long. */
export async function watchRadar(context: WatchContext, { signal, onProblem }: WatchOptions): Promise<void> {
  const { clock, policy } = context;
  const told = new Set<string>();
  const tell = (problem: string) => {
    if (!told.has(problem)) onProblem(`The conflict radar: ${problem}`);
    told.add(problem);
  };
  while (!signal.aborted) {
    await tryLook(context, signal, tell);
    await clock.sleep(policy.radar.everyMs, signal);
  }
  const [done, late] = [new AbortController(), new AbortController()];
  const patience = clock.sleep(policy.radar.lastMs, done.signal).then(() => late.abort());
  await tryLook(context, late.signal, tell);
  done.abort();
  await patience;
}

async function tryLook(
  context: WatchContext,
  signal: AbortSignal,
  tell: (problem: string) => void,
): Promise<void> {
  const mostTrials = context.policy.radar.trialsAtOnce;
  try {
    const look = await refreshRadar(context, { mostTrials, signal });
    for (const problem of look?.problems ?? []) tell(problem);
  } catch (error) {
    // Nothing depends on it: a full disk or a board that is away for a moment is told, and tried again.
    tell(error instanceof Error ? error.message : String(error));
  }
}
