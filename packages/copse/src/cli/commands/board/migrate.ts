import { migratedVersion } from '../../../compose/open.ts';
import type { Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Opening the board migrates it; this command says so, and can do it beside others. */
export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  let from = migratedVersion as number;
  const onMigrated = (found: number) => void (from = found);
  const migration = { isForced: options.force ?? false, onMigrated };
  await withBoard(cli, ({ board }) => board.requireCurrent(), { migration });
  if (options.json) return cli.output.json({ from, to: migratedVersion });
  cli.output.line(
    from === migratedVersion
      ? `The board already has version ${migratedVersion}, the version of this Copse.`
      : `Migrated the board from version ${from} to ${migratedVersion}.`,
  );
}
