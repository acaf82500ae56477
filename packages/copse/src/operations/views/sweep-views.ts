/** What `copse sweep --json` prints. */

import type { SweepPlan } from '../../workspaces/rules/sweep/plan.ts';
import type { SweepItem } from '../../workspaces/rules/sweep/things.ts';
import type { SweptFate, SweptItem } from '../../workspaces/sweep/carry-out.ts';

export function sweepView(plan: SweepPlan, swept: readonly SweptItem[] | null) {
  const fates = new Map<SweepItem, SweptFate>(swept?.map(({ item, fate }) => [item, fate]));
  return {
    dryRun: swept === null,
    budget: plan.budget,
    items: plan.items.map((item) => {
      const fate = fates.get(item);
      return { ...itemView(item), ...(fate && { outcome: fate }) };
    }),
  };
}

function itemView({ found, name, task, bytes, verdict }: SweepItem) {
  return {
    kind: found.kind,
    name,
    task,
    bytes,
    goes: verdict.kind === 'goes',
    why: verdict.why,
    ...(verdict.kind === 'goes' && { keptUnder: verdict.keptUnder, notes: verdict.notes }),
  };
}
