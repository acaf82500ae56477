import { withAccess } from '../../../compose/operations/access.ts';
import { progressText } from '../../../explain/rules/progress.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/plans/plan-show.ts';
import type { Invocation } from '../../invocation.ts';
import { columnsFor, indented, listLine } from '../../screen/render.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { output } = cli;
  await withAccess(cli, async (access) => {
    const result = await act(access, { plan: words[0] ?? '' });
    if (options.json) return output.json(view(result));
    const { plan, tasks, at } = result;
    output.line(`${output.style('bold', plan.id)} ${shown(plan.title)} (${progressText(tasks)})`);
    if (plan.body !== '') output.line(`\n${indented(shown(plan.body), 4)}\n`);
    const look = { output, now: at, columns: columnsFor(output) };
    for (const task of tasks) output.line(listLine(task, {}, look));
    if (tasks.length === 0) output.line(`No tasks. To add one: copse add "…" --plan ${plan.id}`);
  });
}
