import { type Cost, type CostGroup, type CostRow, type Costs, costGroups } from '../../../agents/act/cost.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { dollarsText, tokensText } from '../../../explain/rules/amounts.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/agents/cost.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { cut, widthOfText } from '../../screen/screen.ts';

interface Options {
  readonly by?: string;
  readonly since?: string;
  readonly plan?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { since, plan } = options;
  const by = requireGroup(options.by ?? 'task');
  await withAccess(cli, async (access) => {
    const costs = await act(access, { by, since, plan });
    if (options.json) return cli.output.json(view(costs));
    if (costs.rows.length > 0) return print(cli.output, by, costs);
    const isNarrowed = since !== undefined || plan !== undefined;
    cli.output.line(
      isNarrowed ? 'No agent reported usage for this selection.' : 'No agent has reported usage yet.',
    );
  });
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

function requireGroup(text: string): CostGroup {
  const group = costGroups.find((known) => known === text);
  if (group) return group;
  return fail('invalid', `--by must be one of ${costGroups.join(', ')}, not "${text}".`, 'copse cost --help');
}
