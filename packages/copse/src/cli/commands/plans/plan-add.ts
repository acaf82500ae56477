import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/plans/plan-add.ts';
import type { Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';

interface Options extends BodyOptions {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const body = await readBody(cli, options);
  await withAccess(cli, async (access) => {
    const plan = await act(access, { title: words.join(' '), body });
    if (options.json) return cli.output.json(view(plan));
    cli.output.line(`Added plan ${plan.id} ${shown(plan.title)}`);
    cli.output.line(`To add a task to it: copse add "…" --plan ${plan.id}`);
  });
}
