import { shown } from '../../../kernel/text.ts';
import { ledgerView } from '../../../operations/views/views.ts';
import type { Invocation } from '../../invocation.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { indented } from '../../screen/render.ts';
import { requireTaskOrHere } from '../workspaces/task-of-folder.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async ({ board, clock }) => {
    const task = await requireTaskOrHere(board, cli, words[0] ?? options.task);
    const entries = await board.list('ledger', { task });
    if (options.json) {
      cli.output.json({ entries: entries.map(ledgerView) });
      return;
    }
    if (entries.length === 0) cli.output.line(`The ledger of ${task} is empty.`);
    for (const { kind, text, at } of entries) {
      cli.output.line(`${kind} (${age(at, clock.now())}) ${indented(shown(text), 4).trimStart()}`);
    }
  });
}
