import { progressText } from '../../../explain/rules/progress.ts';
import { shown } from '../../../kernel/text.ts';
import { planView } from '../../../operations/views/views.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { columnsFor, indented, listLine } from '../../screen/render.ts';
import { requirePlanId, withBoard } from '../../with-board.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async ({ board, clock }) => {
    const id = await requirePlanId(board, words[0] ?? '');
    const plan = await board.get('plan', id);
    if (plan === undefined) fail('not_found', `There is no plan ${id}.`, 'copse plan list');
    const tasks = await board.tasks({ plan: id, order: 'urgent' });
    const { output } = cli;
    if (options.json) {
      output.json(planView(plan, tasks));
      return;
    }
    output.line(`${output.style('bold', plan.id)} ${shown(plan.title)} (${progressText(tasks)})`);
    if (plan.body !== '') output.line(`\n${indented(shown(plan.body), 4)}\n`);
    const look = { output, now: clock.now(), columns: columnsFor(output) };
    for (const task of tasks) output.line(listLine(task, {}, look));
    if (tasks.length === 0) output.line(`No tasks. To add one: copse add "…" --plan ${plan.id}`);
  });
}
