import { moveBoardTo } from '../../../compose/board/move.ts';
import { migratedVersion } from '../../../compose/open.ts';
import { timestamp } from '../../../kernel/ids.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { OperationFailed, fail } from '../../../operations/failure.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly to?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { to } = options;
  if (to === undefined) return migrateVersion(cli, options);
  if (!/^(sqlite$|postgres(ql)?:)/.test(to))
    return fail(
      'invalid',
      '--to must be "sqlite" or a PostgreSQL address.',
      'copse board migrate --to postgres://user@host/database',
      'copse board migrate --to sqlite',
    );
  const moved = await moveBoardTo(cli, to, timestamp(Date.now()));
  if (moved.kind === 'refused') throw new OperationFailed(moved.refusal);
  const { from, to: location, records, events, aside } = moved;
  if (options.json) return cli.output.json({ from, to: location, records, events, aside });
  const what = `${counted(records, 'record')} and ${counted(events, 'event')}`;
  cli.output.line(`Moved the board to ${shown(location)}: ${what}, compared line by line`);
  cli.output.line(`  The old one is kept at ${shown(from)}, and takes no more changes`);
  if (aside !== null) cli.output.line(`  An older board that was in its place is in ${shown(aside)}`);
  printSteps(cli.output, [
    to === 'sqlite'
      ? 'copse config accept # after you remove board from copse.yml; unset COPSE_BOARD too'
      : 'copse config accept # after you wrote the address into copse.yml under board, on every machine; or set COPSE_BOARD',
  ]);
}

/** Opening the board migrates it; this says so, and can do it beside others. */
async function migrateVersion(cli: Cli, { force = false, json = false }: Options): Promise<void> {
  let from = migratedVersion as number;
  const onMigrated = (found: number) => void (from = found);
  await withBoard(cli, ({ board }) => board.requireCurrent(), { migration: { isForced: force, onMigrated } });
  if (json) return cli.output.json({ from, to: migratedVersion });
  cli.output.line(
    from === migratedVersion
      ? `The board already has version ${migratedVersion}, the version of this Copse.`
      : `Migrated the board from version ${from} to ${migratedVersion}.`,
  );
}
