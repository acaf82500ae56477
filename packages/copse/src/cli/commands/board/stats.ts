import { loadStats } from '../../../explain/stats.ts';
import { type Stats, type StatsRow, statNames } from '../../../explain/rules/stats.ts';
import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { statsView } from '../../../operations/views/stats-views.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { cut, widthOfText } from '../../screen/screen.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly weeks?: string;
  readonly json?: boolean;
}

const USUAL_WEEKS = 8;
const MOST_WEEKS = 520;

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const weeks = requireWeeks(options.weeks);
  await withBoard(cli, async (context) => {
    const since = startOfWeek(context.clock.now(), weeks - 1);
    const { rows, total } = await loadStats(context, { since: timestamp(since.getTime()), weekOf });
    if (options.json) cli.output.json(statsView({ weeks, since: dayOf(since), rows, total }));
    else if (rows.length === 0)
      cli.output.line(`No agent worked in the last ${weeks === 1 ? 'week' : `${weeks} weeks`}.`);
    else print(cli.output, rows, total);
  });
}

const DAY_WIDTH = 'yyyy-mm-dd'.length;
const GAP = 2;

function print(output: Output, rows: readonly StatsRow[], total: Stats): void {
  const numbers = statNames.reduce((sum, name) => sum + name.length + GAP, 0);
  const most = Math.max(8, Math.min(output.columns(), 100) - DAY_WIDTH - GAP - numbers);
  const agents = rows.map(({ agent }) => shown(agent));
  const width = Math.max('agent'.length, Math.min(most, Math.max(...agents.map(widthOfText))));
  const line = (week: string, agent: string, cells: readonly string[]) => {
    const name = cut(agent, width);
    const padded = `${name}${' '.repeat(Math.max(0, width - widthOfText(name)))}`;
    const numbers = cells.map((cell, index) => cell.padStart((statNames[index] ?? '').length + GAP));
    return `${week.padEnd(DAY_WIDTH + GAP)}${padded}${numbers.join('')}`;
  };
  const cells = (of: Stats) => statNames.map((name) => String(of[name]));
  output.line(output.style('dim', line('week of', 'agent', statNames)));
  for (const [index, row] of rows.entries()) {
    const isSameWeek = rows[index - 1]?.week === row.week;
    output.line(line(isSameWeek ? '' : row.week, agents[index] ?? '', cells(row)));
  }
  output.line(output.style('bold', line('total', '', cells(total))));
}

function requireWeeks(text: string | undefined): number {
  if (text === undefined) return USUAL_WEEKS;
  const weeks = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (weeks >= 1 && weeks <= MOST_WEEKS) return weeks;
  return fail(
    'invalid',
    `--weeks must be a whole number from 1 to ${MOST_WEEKS}, not "${text}".`,
    'copse stats --help',
  );
}

function weekOf(at: Timestamp): string {
  return dayOf(startOfWeek(at));
}

/** Monday at midnight in the local time zone, so many weeks before. */
function startOfWeek(at: Timestamp, weeksBefore = 0): Date {
  const date = new Date(at);
  const sinceMonday = (date.getDay() + 6) % 7;
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - sinceMonday - 7 * weeksBefore);
}

function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
