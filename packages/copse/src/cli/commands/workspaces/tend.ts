import { openLeftovers } from '../../../compose/leftovers.ts';
import { tidy } from '../../../workspaces/discard/tidy.ts';
import { tend } from '../../../workspaces/act/tend.ts';
import { shown } from '../../../kernel/text.ts';
import type { Invocation } from '../../invocation.ts';
import { withWorkspaces } from '../../with-workspaces.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withWorkspaces(cli, async (context) => {
    const tended = await tend(context);
    const undeleted = await tidy(context, openLeftovers(cli));
    const failed = [...(tended?.failed ?? []), ...undeleted];
    if (options.json) cli.output.json(tended ? { ...tended, failed } : { busy: true });
    else if (tended === undefined) cli.output.line('Another process is doing this.');
    else {
      const { thinned, deleted, pool } = tended;
      cli.output.line(`Trash: ${thinned} shrunk, ${deleted} deleted.`);
      for (const reason of tended.kept) cli.output.line(`  ${shown(reason)}`);
      for (const reason of failed) cli.output.line(`  failed: ${shown(reason)}`);
      cli.output.line(`Pool: ${pool.ready === 0 ? 'no worktrees' : pool.ready} ready (${pool.reason}).`);
    }
  });
}
