import { withAccess } from '../../../compose/operations/access.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/plans/ledger-list.ts';
import type { Invocation } from '../../invocation.ts';
import { indented } from '../../screen/render.ts';

interface Options {
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const ledger = await act(access, { task: words[0] ?? options.task });
    if (options.json) return cli.output.json(view(ledger));
    if (ledger.entries.length === 0) cli.output.line(`The ledger of ${ledger.task} is empty.`);
    for (const { kind, text, at } of ledger.entries)
      cli.output.line(`${kind} (${age(at, ledger.at)}) ${indented(shown(text), 4).trimStart()}`);
  });
}
