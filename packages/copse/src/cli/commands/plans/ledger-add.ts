import type { Context } from '../../../board/context.ts';
import { addLedgerEntry } from '../../../tasks/act/ledger.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { ledgerView } from '../../../operations/views/views.ts';
import { orFail } from '../../failure.ts';
import { requireTaskOption } from './task-option.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';
import { withReporting } from '../agents/report-here.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [kind = '', ...rest] = words;
  const text = rest.length === 1 && rest[0] === '-' ? await readInput(cli, '-') : rest.join(' ');
  await withTask(cli, options, async (context, task) => {
    const entry = orFail(await addLedgerEntry(context, task, { kind, text }));
    if (options.json) cli.output.json(ledgerView(entry));
    else cli.output.line(`Added a ${entry.kind} to the ledger of ${task}.`);
  });
}

/** Agents have the id in their environment; for people the current folder is looked up too. */
async function withTask(
  cli: Cli,
  options: Options,
  work: (context: Context, task: TaskId) => Promise<void>,
): Promise<void> {
  if (options.task === undefined && !cli.env['COPSE_TASK_ID']) {
    return withReporting(cli, undefined, (context, { task }) => work(context, task));
  }
  return withBoard(cli, async (context) =>
    work(context, await requireTaskOption(context.board, cli, options)),
  );
}
