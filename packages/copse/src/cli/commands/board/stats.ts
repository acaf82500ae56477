import { withAccess } from '../../../compose/operations/access.ts';
import { type Stats, type StatsRow, statNames } from '../../../explain/rules/stats.ts';
import { shown } from '../../../kernel/text.ts';
import { MOST_WEEKS, act, view } from '../../../operations/agents/stats.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { cut, widthOfText } from '../../screen/screen.ts';

interface Options {
  readonly weeks?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const weeks = options.weeks === undefined ? undefined : requireWeeks(options.weeks);
  await withAccess(cli, async (access) => {
    const stats = await act(access, { weeks });
    if (options.json) return cli.output.json(view(stats));
    if (stats.rows.length > 0) return print(cli.output, stats.rows, stats.total);
    cli.output.line(`No agent worked in the last ${stats.weeks === 1 ? 'week' : `${stats.weeks} weeks`}.`);
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

function requireWeeks(text: string): number {
  const weeks = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (weeks >= 1 && weeks <= MOST_WEEKS) return weeks;
  return fail(
    'invalid',
    `--weeks must be a whole number from 1 to ${MOST_WEEKS}, not "${text}".`,
    'copse stats --help',
  );
}
