import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/plans/plan-list.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const plans = await act(access);
    if (options.json) return cli.output.json(view(plans));
    if (plans.length === 0) cli.output.line('No plans. To add one: copse plan add "…"');
    for (const { plan, tasks } of plans) {
      const done = tasks.filter((task) => task.state.status === 'done').length;
      cli.output.line(`${plan.id} ${shown(plan.title)} (${done} of ${tasks.length} done)`);
    }
  });
}
