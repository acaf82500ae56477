import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/nodes/rename.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const renamed = await act(access, { node: words[0] ?? '', name: words[1] ?? '' });
    if (options.json) return cli.output.json(view(renamed));
    cli.output.line(`Node ${shown(renamed.before)} is called ${shown(renamed.node.name)} now.`);
  });
}
