/**
 * Runs a pass whenever the board changes, when the delay of a task ends, and every `pollIntervalMs` without either. It can
 * be stopped or killed at any moment; the next orchestrator goes on from the board.
 */

import { type Orchestrator, type Pass } from './orchestrate.ts';
import { plannedRestarts } from '../agents/act/auto-restart.ts';
import { BoardTooNew } from '../board/port.ts';
import type { RunContext } from '../queue/context.ts';

export interface LoopOptions {
  readonly signal: AbortSignal;
  readonly isOnce: boolean;
  readonly untilIdle: boolean;
  /** Whether an idle loop goes on, because what a person does next starts work again. */
  readonly isAwaited?: () => Promise<boolean>;
  readonly pollIntervalMs: number;
  /** Whether this process was told to end once the node has drained; `now` ends it even if the board is away. */
  readonly ending?: () => 'no' | 'drained' | 'now';
  readonly onPass: (pass: Pass) => void;
  readonly onProblem: (error: unknown) => void;
}

/** `drained`: its agents ended or were handed over. `left`: a person removed the node from the board. */
export type LoopEnd = 'stopped' | 'idle' | 'once' | 'drained' | 'left';

export async function runLoop(
  context: RunContext,
  orchestrator: Orchestrator,
  options: LoopOptions,
): Promise<LoopEnd> {
  const { clock, board, policy } = context;
  const { signal, pollIntervalMs } = options;
  let woken = new AbortController();
  const subscription = await board.onChange(() => woken.abort());
  try {
    while (!signal.aborted) {
      // Renewed before the pass: a change during it wakes the next one.
      woken = new AbortController();
      const pass = await tryPass(context, orchestrator, options);
      if (pass !== undefined) options.onPass(pass);
      const ending = options.ending?.() ?? 'no';
      if (ending === 'now' && pass === undefined) return 'stopped';
      if (pass?.isDrained && (ending !== 'no' || options.untilIdle)) return 'drained';
      if (pass?.here.hasLeft) return 'left';
      if (options.isOnce) {
        await orchestrator.settle();
        return 'once';
      }
      if (options.untilIdle && pass !== undefined) {
        // Before the looks of isIdle: they see what an answer that came meanwhile started.
        const isAwaited = (await options.isAwaited?.()) ?? false;
        if (!isAwaited && (await isIdle(context, orchestrator, pass))) return 'idle';
      }
      const pauseMs = pass === undefined ? pollIntervalMs : await untilNextLook(context, pollIntervalMs);
      await clock.sleep(pauseMs, AbortSignal.any([signal, woken.signal]));
      if (!signal.aborted) await clock.sleep(policy.orchestration.gatherMs, signal);
    }
    return 'stopped';
  } finally {
    await subscription.stop();
    await orchestrator.stop();
  }
}

/**
 * An unreachable board or a full disk is reported, and the next pass tries again. A board that a newer Copse migrated ends
 * the loop: every attempt would fail on it and use up a retry.
 */
async function tryPass(
  { board }: RunContext,
  orchestrator: Orchestrator,
  { onProblem }: LoopOptions,
): Promise<Pass | undefined> {
  try {
    await board.requireCurrent();
    return await orchestrator.pass();
  } catch (error) {
    if (error instanceof BoardTooNew) throw error;
    onProblem(error);
    return undefined;
  }
}

async function untilNextLook({ board, clock, policy }: RunContext, pollIntervalMs: number): Promise<number> {
  const now = clock.now();
  const delayed = await board
    .tasks({
      statuses: ['ready'],
      delayedAt: now,
      order: 'urgent',
      limit: policy.orchestration.consideredAtOnce,
    })
    // The next pass finds out whether the board is still away.
    .catch(() => []);
  const waits = delayed.flatMap(({ state }) =>
    state.status === 'ready' && state.delay !== null ? [state.delay.until - now] : [],
  );
  return Math.max(1, Math.min(pollIntervalMs, ...waits));
}

/** Nothing runs, lands or will start without a person. Tasks that wait for a person do not count. */
async function isIdle(context: RunContext, orchestrator: Orchestrator, pass: Pass): Promise<boolean> {
  if (pass.hasStarted || !orchestrator.isQuiet) return false;
  if (pass.running.some(({ held }) => held.attempt !== null)) return false;
  if (pass.landings.some(({ waiting }) => waiting === null)) return false;
  const { board, clock } = context;
  if ((await board.held()).some(({ task }) => !pass.running.some((one) => one.task.id === task.id)))
    return false;
  if ((await orchestrator.openLandings()).some(({ waiting }) => waiting === null)) return false;
  if ((await plannedRestarts(context)).length > 0) return false;
  const now = clock.now();
  const ready = await board.tasks({ statuses: ['ready'], order: 'urgent' });
  // A delay may have ended since the pass, and processes in the main checkout are being ended.
  const waiting = new Set(
    pass.waiting.flatMap(({ task, waiting }) => (['delay', 'checkout'].includes(waiting.kind) ? [] : [task])),
  );
  return ready.every(({ id, state }) => {
    const isDelayed = state.status === 'ready' && state.delay !== null && state.delay.until > now;
    return !isDelayed && waiting.has(id);
  });
}
