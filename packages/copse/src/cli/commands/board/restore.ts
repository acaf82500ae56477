import { age } from '../../../explain/rules/amounts.ts';
import {
  type BoardFile,
  type KnownSnapshot,
  findSnapshot,
  requireBoardFile,
  restoreBoard,
  snapshotsOf,
  whoUses,
} from '../../../compose/board/file.ts';
import { timestamp } from '../../../kernel/ids.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { time } from '../../../kernel/time.ts';
import { canAsk, choose, confirm } from '../../ask.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const board = await requireBoardFile(cli);
  const snapshots = snapshotsOf(board);
  const name = words[0] ?? (await chosen(cli, snapshots, options));
  if (name === undefined) return;
  const from = findSnapshot(board, name, cli.cwd);
  if (from === undefined)
    return fail('not_found', `There is no snapshot ${shown(name)}.`, 'copse board restore');
  await refuseBeside(board);
  if (!(await isMeant(cli, from, options)))
    return fail('invalid', 'Nothing was changed.', `copse board restore ${shellWord(name)} --yes`);
  const aside = await restoreBoard(board, from, timestamp(Date.now()));
  if (options.json) return cli.output.json({ restored: from, board: board.file, aside });
  cli.output.line(`Restored ${shown(board.file)} from ${shown(from)}`);
  if (aside !== null) cli.output.line(`  The board that was there is in ${shown(aside)}`);
  cli.output.line('  Tasks that came or landed since then: copse board rebuild');
}

/** Lists them; on a terminal, asks for one. */
async function chosen(
  cli: Cli,
  snapshots: readonly KnownSnapshot[],
  options: Options,
): Promise<string | undefined> {
  if (snapshots.length === 0 && !options.json)
    return fail(
      'not_found',
      'There are no snapshots of the board.',
      'copse board rebuild',
      'copse import --help # if you have an export of the board',
    );
  const now = timestamp(Date.now());
  if (canAsk(cli, options)) {
    const answers = snapshots.map((one) => ({ value: one.name, label: described(one, now) }));
    return choose('Which snapshot?', answers);
  }
  if (options.json) cli.output.json({ snapshots: snapshots.map((one) => ({ ...one, at: time(one.at) })) });
  else {
    for (const one of snapshots) cli.output.line(described(one, now));
    const usable = snapshots.find(({ content }) => content.kind === 'board');
    if (usable) cli.output.line(`Put one back: copse board restore ${shellWord(usable.name)}`);
  }
  return undefined;
}

function described({ name, at, reason, content }: KnownSnapshot, now: KnownSnapshot['at']): string {
  const what =
    content.kind === 'board'
      ? `${counted(content.tasks, 'task')}, ${counted(content.events, 'event')}`
      : `unusable: ${content.reason}`;
  return shown(`${name} (${age(at, now)} ago, ${reason}): ${what}`);
}

async function refuseBeside(board: BoardFile): Promise<void> {
  const running = await whoUses(board);
  if (running === undefined) return;
  fail(
    'wrong_status',
    `${running.text}, so the board cannot be replaced. Nothing was changed.`,
    ...running.stop,
  );
}

async function isMeant(cli: Cli, from: string, options: Options): Promise<boolean> {
  if (options.yes === true) return true;
  if (!canAsk(cli, options)) return false;
  return confirm(`Replace the board by ${from}? The present one is kept aside.`);
}
