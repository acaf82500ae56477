import { shown } from '../../../kernel/text.ts';
import { fail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withBoard(cli, async ({ board, clock }) => {
    const copy = await board.backUp('asked', clock.now());
    switch (copy.kind) {
      case 'backed_up':
        if (options.json) cli.output.json({ file: copy.file });
        else cli.output.line(`Copied the board to ${shown(copy.file)}`);
        return;
      case 'damaged':
        return fail(
          'unhealthy',
          `The board at ${shown(board.location)} is damaged, so no copy was kept: ${shown(copy.problems[0] ?? '')}.`,
          'copse board restore',
        );
      default:
        return fail(
          'wrong_status',
          'The board is on a PostgreSQL server, which Copse does not back up.',
          'copse export board.jsonl',
        );
    }
  });
}
