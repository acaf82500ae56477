/** `copse --help`: the daily commands with a line each, the others by name. */

import type { CopseCommand } from './command.ts';
import { wrapped } from './wrap.ts';

/** The titles of `copse help <topic>`; topics.ts has the texts. */
export const topics = {
  states: 'the states of a task, and what to do in each',
  configuration: 'where settings come from, and which take effect',
  agents: 'which programs can be agents, and how they run',
  landing: 'how finished work gets to the target branch',
  schedules: 'times and requests that start agents',
  machines: 'several machines on one board',
} as const;

export type Topic = keyof typeof topics;

const MARGIN = '  ';
const GAP = '  ';
const DAILY = 'Daily';

export function wholeHelp(program: CopseCommand, columns: number): string {
  const groups = groupsOf(program);
  const daily = (groups.get(DAILY) ?? []).map((one) => [one.name(), one.description()] as const);
  const others = [...groups]
    .filter(([group]) => group !== DAILY)
    .map(([group, commands]) => [`${group}:`, commands.map((one) => one.name()).join(', ')] as const);
  const rest = [...others, ['Topics:', Object.keys(topics).join(', ')] as const];
  const width = widest([...daily, ...rest]);
  const lines = [
    'Usage: copse <command> [options]',
    '',
    ...wrapped(program.description(), columns),
    '',
    `${DAILY}:`,
    ...table(daily, width, columns),
    '',
    ...table(rest, width, columns),
    '',
    ...table(
      [
        ['copse help <command>', 'its options, with examples'],
        ['copse help <topic>', 'a page about it'],
        ['copse help all', 'all commands, one line each'],
      ],
      'copse help <command>'.length,
      columns,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** `copse help all`. */
export function everyCommand(program: CopseCommand, columns: number): string {
  const groups = [...groupsOf(program)].map(
    ([group, commands]) => [group, commands.map((one) => [one.name(), one.description()] as const)] as const,
  );
  const width = widest(groups.flatMap(([, rows]) => rows));
  const parts = groups.map(([group, rows]) => [`${group}:`, ...table(rows, width, columns), ''].join('\n'));
  return parts.join('\n');
}

type Row = readonly [term: string, text: string];

function widest(rows: readonly Row[]): number {
  return Math.max(...rows.map(([term]) => term.length));
}

function table(rows: readonly Row[], width: number, columns: number): readonly string[] {
  const indent = MARGIN.length + width + GAP.length;
  return rows.flatMap(([term, text]) => {
    const [first = '', ...others] = wrapped(text, columns - indent);
    return [
      `${MARGIN}${term.padEnd(width)}${GAP}${first}`,
      ...others.map((line) => ' '.repeat(indent) + line),
    ];
  });
}

function groupsOf(program: CopseCommand): ReadonlyMap<string, readonly CopseCommand[]> {
  const visible = program.createHelp().visibleCommands(program);
  return Map.groupBy(visible as unknown as readonly CopseCommand[], (command) => command.helpGroup());
}
