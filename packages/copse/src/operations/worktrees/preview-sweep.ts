import type { SweepPlan } from '../../workspaces/rules/sweep/plan.ts';
import { previewSweep } from '../../workspaces/sweep/sweep.ts';
import type { Access } from '../access.ts';
import { sweepView } from '../views/sweep-views.ts';

interface PlannedSweep {
  readonly plan: SweepPlan;
  /** The main checkout. */
  readonly root: string;
}

export async function act(access: Access, _input: Readonly<Record<string, never>>): Promise<PlannedSweep> {
  return access.sweep(async (context) => ({
    plan: await previewSweep(context, { isMeasured: true }),
    root: context.root,
  }));
}

export function view({ plan }: PlannedSweep) {
  return sweepView(plan, null);
}
