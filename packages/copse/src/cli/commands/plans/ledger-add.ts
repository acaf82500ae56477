import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/plans/ledger-add.ts';
import type { Invocation } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';

interface Options {
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [kind = '', ...rest] = words;
  const text = rest.length === 1 && rest[0] === '-' ? await readInput(cli, '-') : rest.join(' ');
  await withAccess(cli, async (access) => {
    const entry = await act(access, { task: options.task, kind, text });
    if (options.json) cli.output.json(view(entry));
    else cli.output.line(`Added a ${entry.kind} to the ledger of ${entry.task}.`);
  });
}
