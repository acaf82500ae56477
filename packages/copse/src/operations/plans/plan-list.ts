import type { Plan } from '../../tasks/rules/plan.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { planView } from '../views/views.ts';

interface ListedPlan {
  readonly plan: Plan;
  readonly tasks: readonly TaskSummary[];
}

export async function act(access: Access): Promise<readonly ListedPlan[]> {
  return access.board(async ({ board }) => {
    const plans: ListedPlan[] = [];
    for (const plan of await board.list('plan'))
      plans.push({ plan, tasks: await board.tasks({ plan: plan.id, order: 'urgent' }) });
    return plans;
  });
}

export function view(plans: readonly ListedPlan[]) {
  return { plans: plans.map(({ plan, tasks }) => planView(plan, tasks)) };
}
