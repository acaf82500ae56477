import {
  type Cost,
  type CostGroup,
  type CostRow,
  type Costs,
  costGroups,
  loadCosts,
} from '../../../agents/act/cost.ts';
import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { tokensOf } from '../../../kernel/usage.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { cut, widthOfText } from '../../screen/screen.ts';
import { dollarsText, tokensText } from '../../../explain/rules/amounts.ts';
import { requirePlanId } from '../../../operations/find.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly by?: string;
  readonly since?: string;
  readonly plan?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const by = requireGroup(options.by ?? 'task');
  await withBoard(cli, async (context) => {
    const since = options.since === undefined ? null : requireSince(options.since, context.clock.now());
    const plan = options.plan === undefined ? null : await requirePlanId(context.board, options.plan);
    const costs = await loadCosts(context, { by, since, plan, dayOf });
    if (options.json) {
      cli.output.json({
        by,
        since: since === null ? null : new Date(since).toISOString(),
        rows: costs.rows.map((row) => ({
          [by]: row.key,
          ...(by === 'task' && { title: row.title }),
          ...view(row),
        })),
        total: view(costs.total),
      });
    } else if (costs.rows.length === 0) {
      const isNarrowed = since !== null || plan !== null;
      cli.output.line(
        isNarrowed ? 'No agent reported usage for this selection.' : 'No agent has reported usage yet.',
      );
    } else print(cli.output, by, costs);
  });
}

function view({ usage, isUnknownInPart, sessions }: Cost) {
  const { input, cached, output, dollars } = usage;
  return { tokens: tokensOf(usage), input, cached, output, dollars, isUnknownInPart, sessions };
}

const heads = ['input', 'cached', 'output', 'dollars'] as const;
const NUMBER_WIDTH = 9;
const LEAST_LABEL = 16;
const MOST_COLUMNS = 100;

function print(output: Output, by: CostGroup, { rows, total }: Costs): void {
  const most = Math.min(output.columns(), MOST_COLUMNS) - heads.length * NUMBER_WIDTH - 1;
  const labels = rows.map((row) => labelOf(by, row));
  const width = Math.max(LEAST_LABEL, Math.min(most, Math.max(...labels.map(widthOfText))));
  const line = (label: string, cells: readonly string[]) => {
    const text = cut(label, width);
    const padding = ' '.repeat(Math.max(0, width - widthOfText(text)));
    return `${text}${padding}${cells.map((cell) => cell.padStart(NUMBER_WIDTH)).join('')}`;
  };
  output.line(output.style('dim', line(by, heads)));
  for (const [index, row] of rows.entries()) output.line(line(labels[index] ?? '', cellsOf(row)));
  output.line(output.style('bold', line('total', cellsOf(total))));
  const note =
    total.usage.dollars === null
      ? 'The agents do not report dollars.'
      : '+ marks sums without the agents that report no dollars.';
  if (total.isUnknownInPart) output.line(output.style('dim', note));
}

function labelOf(by: CostGroup, { key, title }: CostRow): string {
  if (by !== 'task') return shown(key);
  return `${key} ${title === null ? '(deleted)' : shown(title)}`;
}

function cellsOf({ usage, isUnknownInPart }: Cost): readonly string[] {
  const { input, cached, output, dollars } = usage;
  const known = dollars === null ? 'unknown' : dollarsText(dollars);
  const price = dollars !== null && isUnknownInPart ? `${known}+` : known;
  return [tokensText(input), tokensText(cached), tokensText(output), price];
}

/** In the local time zone. */
function dayOf(at: Timestamp): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function requireGroup(text: string): CostGroup {
  const group = costGroups.find((known) => known === text);
  if (group) return group;
  return fail('invalid', `--by must be one of ${costGroups.join(', ')}, not "${text}".`, 'copse cost --help');
}

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A span, a day, or a time; days and times without a zone are local. */
function requireSince(text: string, now: Timestamp): Timestamp {
  const [, amount, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (amount !== undefined) return timestamp(now - Number(amount) * (MS_PER_UNIT[unit] ?? 0));
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  const parsed = isDay ? Date.parse(`${text}T00:00`) : isTime ? Date.parse(text) : Number.NaN;
  // `Date.parse` takes 30 February for a day in March.
  const isReal = !Number.isNaN(parsed) && (!isDay || dayOf(timestamp(parsed)) === text);
  if (isReal) return timestamp(parsed);
  return fail(
    'invalid',
    `--since must be a time like 7d, 2026-11-30 or 2026-11-30T14:00, not "${text}".`,
    'copse cost --help',
  );
}
