import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/board/backup.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const copy = await act(access);
    if (options.json) cli.output.json(view(copy));
    else cli.output.line(`Copied the board to ${shown(copy.file)}`);
  });
}
