import { withAccess } from '../../../compose/operations/access.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { radarSummary, verdictText } from '../../../explain/rules/collisions.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/queue/radar.ts';
import type { Cli, Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const seen = await act(access, { task: words[0], onNote: (note) => cli.output.note(shown(note)) });
    if (options.json) cli.output.json(view(seen));
    else show(cli, seen);
  });
}

function show({ output }: Cli, { sighting, only, titles, at }: Awaited<ReturnType<typeof act>>): void {
  const { branches, pairs, omitted } = sighting;
  const width = Math.max(0, ...pairs.flatMap(({ tasks }) => tasks.map((task) => task.length)));
  for (const { tasks, verdict, since } of pairs) {
    const [one, other] = tasks[1] === only ? tasks.toReversed() : tasks;
    const ids = `${one?.padEnd(width)}  ${other?.padEnd(width)}`;
    const head = output.style(styles[verdict.kind], words[verdict.kind].padEnd(8));
    output.line(`${head}  ${ids}  ${age(since, at).padStart(4)}  ${verdictText(verdict)}`);
    for (const task of [one, other])
      if (task !== undefined)
        output.line(output.style('dim', `          ${task}  ${shown(titles.get(task) ?? '')}`));
  }
  if (omitted > 0) output.line(output.style('dim', `… and ${omitted} more pairs`));
  if (pairs.length > 0) output.line();
  output.line(radarSummary(branches.length, pairs, only));
}

const words = { conflict: 'conflict', overlap: 'overlap', pending: 'pending', apart: 'apart' } as const;
const styles = { conflict: 'red', overlap: 'yellow', pending: 'dim', apart: 'dim' } as const;
