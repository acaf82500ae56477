import type { Timestamp } from '../../kernel/ids.ts';
import type { Plan } from '../../tasks/rules/plan.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requirePlanId } from '../find.ts';
import { planView } from '../views/views.ts';

interface Input {
  readonly plan: string;
}

interface ShownPlan {
  readonly plan: Plan;
  readonly tasks: readonly TaskSummary[];
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<ShownPlan> {
  return access.board(async ({ board, clock }) => {
    const id = await requirePlanId(board, input.plan);
    const plan = await board.get('plan', id);
    if (plan === undefined) fail('not_found', `There is no plan ${id}.`, 'copse plan list');
    return { plan, tasks: await board.tasks({ plan: id, order: 'urgent' }), at: clock.now() };
  });
}

export function view({ plan, tasks }: ShownPlan) {
  return planView(plan, tasks);
}
