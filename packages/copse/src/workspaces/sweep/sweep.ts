/** `copse sweep`, and the sweeps of an orchestrator: look, plan, carry out. One process of a machine at a time. */

import { type SweepPlan, planSweep } from '../rules/sweep/plan.ts';
import { type GoingItem, type SweepItem, type SweptKind, sweptKinds } from '../rules/sweep/things.ts';
import { finishRemovals } from '../discard/tidy.ts';
import { type OnStep, type SweptItem, carryOut } from './carry-out.ts';
import type { SweepContext } from './context.ts';
import { lookAround } from './look.ts';

export interface SweepOptions {
  readonly kinds?: ReadonlySet<SweptKind>;
  readonly off?: ReadonlySet<SweptKind>;
  readonly isMeasured?: boolean;
  readonly signal?: AbortSignal;
  readonly onStep?: OnStep;
  readonly onItem?: (swept: SweptItem) => void;
}

export interface Swept extends SweepPlan {
  readonly swept: readonly SweptItem[];
}

/** What a sweep would do now. Changes nothing. */
export async function previewSweep(context: SweepContext, options: SweepOptions = {}): Promise<SweepPlan> {
  const { kinds = new Set(sweptKinds), off = new Set(), isMeasured = false } = options;
  return planSweep(await lookAround(context, { kinds, isMeasured }), context.policy, off);
}

/** Undefined when another process sweeps. */
export async function sweep(context: SweepContext, options: SweepOptions = {}): Promise<Swept | undefined> {
  const { onStep = () => {}, onItem = () => {}, signal } = options;
  const done = await context.git.tryLock('sweep', async () => {
    // A removal that was killed is finished first, so that the plan sees it as it is.
    await finishRemovals(context);
    onStep('finished_removals');
    const plan = await previewSweep(context, options);
    onStep('planned');
    const swept: SweptItem[] = [];
    for (const item of plan.items.filter(isGoing)) {
      if (signal?.aborted) break;
      const one = await carryOut(context, item, onStep);
      swept.push(one);
      onItem(one);
    }
    return { ...plan, swept };
  });
  return done?.value;
}

function isGoing(item: SweepItem): item is GoingItem {
  return item.verdict.kind === 'goes';
}
