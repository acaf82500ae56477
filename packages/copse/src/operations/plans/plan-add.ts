import { addPlan } from '../../tasks/act/plans.ts';
import type { Plan } from '../../tasks/rules/plan.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { planView } from '../views/views.ts';

interface Input {
  readonly title: string;
  readonly body?: string | undefined;
}

export async function act(access: Access, { title, body = '' }: Input): Promise<Plan> {
  return access.board(async (context) => orFail(await addPlan(context, { title, body })));
}

export function view(plan: Plan) {
  return planView(plan, []);
}
