import { shown } from '../../../kernel/text.ts';
import { planView } from '../../../operations/views/views.ts';
import type { Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async ({ board }) => {
    const plans = [];
    for (const plan of await board.list('plan')) {
      plans.push({ plan, tasks: await board.tasks({ plan: plan.id, order: 'urgent' }) });
    }
    if (options.json) {
      cli.output.json({ plans: plans.map(({ plan, tasks }) => planView(plan, tasks)) });
      return;
    }
    if (plans.length === 0) cli.output.line('No plans. To add one: copse plan add "…"');
    for (const { plan, tasks } of plans) {
      const done = tasks.filter((task) => task.state.status === 'done').length;
      cli.output.line(`${plan.id} ${shown(plan.title)} (${done} of ${tasks.length} done)`);
    }
  });
}
