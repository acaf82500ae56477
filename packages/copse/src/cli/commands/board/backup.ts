import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withBoard(cli, async ({ board, clock }) => {
    const copy = await board.backUp('asked', clock.now());
    if (copy.kind === 'damaged') {
      const first = shown(copy.problems[0] ?? '');
      fail(
        'unhealthy',
        `The board at ${shown(board.location)} is damaged, so no copy was kept: ${first}.`,
        'copse board restore',
      );
    }
    if (copy.kind === 'left_to_server') {
      const schema = new URL(board.location).searchParams.get('schema') ?? 'copse';
      fail(
        'wrong_status',
        'The board is on a PostgreSQL server, which Copse does not back up.',
        `pg_dump --format=custom --schema=${schema} --file=board.dump <its address>`,
        'copse export board.jsonl',
      );
    }
    if (options.json) cli.output.json({ file: copy.file });
    else cli.output.line(`Copied the board to ${shown(copy.file)}`);
  });
}
