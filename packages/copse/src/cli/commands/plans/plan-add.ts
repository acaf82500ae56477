import { addPlan } from '../../../tasks/act/plans.ts';
import { shown } from '../../../kernel/text.ts';
import { planView } from '../../../operations/views/views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { withBoard } from '../../with-board.ts';

interface Options extends BodyOptions {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const body = (await readBody(cli, options)) ?? '';
  await withBoard(cli, async (context) => {
    const plan = orFail(await addPlan(context, { title: words.join(' '), body }));
    if (options.json) cli.output.json(planView(plan, []));
    else {
      cli.output.line(`Added plan ${plan.id} ${shown(plan.title)}`);
      cli.output.line(`To add a task to it: copse add "…" --plan ${plan.id}`);
    }
  });
}
