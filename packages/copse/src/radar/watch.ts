/** Runs the radar regularly beside the orchestrator's passes, so that `copse list` shows collisions without waiting. */

import type { Timer } from '../kernel/clock.ts';
import { type RadarContext, refreshRadar } from './radar.ts';

interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onProblem: (reason: string) => void;
}

type WatchContext = RadarContext & { readonly clock: Timer };

/** Until the signal; then one short last look, for branches that moved meanwhile. */
export async function watchRadar(context: WatchContext, { signal, onProblem }: WatchOptions): Promise<void> {
  const { clock, policy } = context;
  const reported = new Set<string>();
  const report = (problem: string) => {
    if (!reported.has(problem)) onProblem(`The conflict radar: ${problem}`);
    reported.add(problem);
  };
  while (!signal.aborted) {
    await tryLook(context, signal, report);
    await clock.sleep(policy.radar.everyMs, signal);
  }
  const [done, late] = [new AbortController(), new AbortController()];
  const limit = clock.sleep(policy.radar.lastMs, done.signal).then(() => late.abort());
  await tryLook(context, late.signal, report);
  done.abort();
  await limit;
}

async function tryLook(
  context: WatchContext,
  signal: AbortSignal,
  report: (problem: string) => void,
): Promise<void> {
  const mostTrials = context.policy.radar.trialsAtOnce;
  try {
    const look = await refreshRadar(context, { mostTrials, signal });
    for (const problem of look?.problems ?? []) report(problem);
  } catch (error) {
    // A full disk or an unreachable board is reported, and the next look tries again.
    report(error instanceof Error ? error.message : String(error));
  }
}
