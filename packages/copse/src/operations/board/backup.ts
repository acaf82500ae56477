import { shown } from '../../kernel/text.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';

interface BoardCopy {
  readonly file: string;
}

export async function act(access: Access): Promise<BoardCopy> {
  return access.board(async ({ board, clock }) => {
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
    return { file: copy.file };
  });
}

export function view({ file }: BoardCopy) {
  return { file };
}
