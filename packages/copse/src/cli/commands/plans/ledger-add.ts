import { addLedgerEntry } from '../../../tasks/act/ledger.ts';
import { ledgerView } from '../../../operations/views/views.ts';
import { orFail } from '../../../operations/failure.ts';
import { requireTaskOrHere } from '../workspaces/task-of-folder.ts';
import type { Invocation } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [kind = '', ...rest] = words;
  const text = rest.length === 1 && rest[0] === '-' ? await readInput(cli, '-') : rest.join(' ');
  await withBoard(cli, async (context) => {
    const task = await requireTaskOrHere(context.board, cli, options.task);
    const entry = orFail(await addLedgerEntry(context, task, { kind, text }));
    if (options.json) cli.output.json(ledgerView(entry));
    else cli.output.line(`Added a ${entry.kind} to the ledger of ${task}.`);
  });
}
