/** Adds plans: documents that group tasks and explain them. */

import { decided } from '../../kernel/decision.ts';
import { type PlanId, planIdDraws } from '../../kernel/ids.ts';
import type { Plan, PlanEvent } from '../rules/plan.ts';
import { checkBody, checkTitle } from '../../kernel/text.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';
import { invalid } from './definition.ts';
import { unusedId } from './unused-id.ts';

export interface PlanInput {
  readonly title: string;
  readonly body: string;
}

export async function addPlan(context: Context, input: PlanInput): Promise<Outcome<Plan>> {
  const title = checkTitle(input.title);
  if (title.kind === 'refused') return invalid(title.reason, 'copse plan add --help');
  const body = checkBody(input.body);
  if (body.kind === 'refused') return invalid(body.reason, 'copse plan add --help');
  return change(context, async (change) => {
    const id: PlanId = await unusedId(change.board, planIdDraws(context.random));
    await change.apply(
      decided<PlanEvent>({ type: 'plan.added', id, at: change.at, title: title.title, body: body.body }),
    );
    return change.require('plan', id);
  });
}
