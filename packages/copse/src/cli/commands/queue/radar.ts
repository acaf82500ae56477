import { lastSighting, refreshRadar } from '../../../radar/radar.ts';
import type { RunContext } from '../../../queue/context.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import type { Sighting } from '../../../radar/rules/radar.ts';
import { shown } from '../../../kernel/text.ts';
import { radarView } from '../../../operations/views/radar-views.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { radarSummary, verdictText } from '../../../explain/rules/collisions.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { requireTaskId } from '../../../operations/find.ts';
import { withRun } from '../../with-run.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const [word] = words;
    const only = word === undefined ? undefined : await requireTaskId(context.board, word);
    const all = await compare(cli, context);
    const sighting = only === undefined ? all : pairsOf(only, all);
    if (options.json) cli.output.json(radarView(sighting));
    else await show(cli, context, sighting, only);
  });
}

async function compare({ output }: Cli, context: RunContext): Promise<Sighting> {
  const look = await refreshRadar(context, { patienceMs: context.policy.radar.patienceMs });
  for (const problem of look?.problems ?? []) output.note(shown(problem));
  if (look !== undefined) return look.sighting;
  output.note('Another process is comparing the branches now; this is its previous result.');
  return lastSighting(context.radar) ?? { at: context.clock.now(), branches: [], pairs: [], omitted: 0 };
}

function pairsOf(task: TaskId, sighting: Sighting): Sighting {
  if (!sighting.branches.some((one) => one.task === task))
    fail('wrong_status', `${task} has no live branch in this repository.`, 'copse radar');
  return { ...sighting, pairs: sighting.pairs.filter(({ tasks }) => tasks.includes(task)) };
}

async function show(
  { output }: Cli,
  { board, clock }: RunContext,
  { branches, pairs, omitted }: Sighting,
  only: TaskId | undefined,
): Promise<void> {
  const titles = new Map<TaskId, string>();
  for (const task of new Set(pairs.flatMap(({ tasks }) => tasks)))
    titles.set(task, (await board.get('task', task))?.title ?? '');
  const width = Math.max(0, ...pairs.flatMap(({ tasks }) => tasks.map((task) => task.length)));
  for (const { tasks, verdict, since } of pairs) {
    const [one, other] = tasks[1] === only ? tasks.toReversed() : tasks;
    const ids = `${one?.padEnd(width)}  ${other?.padEnd(width)}`;
    const head = output.style(styles[verdict.kind], words[verdict.kind].padEnd(8));
    output.line(`${head}  ${ids}  ${age(since, clock.now()).padStart(4)}  ${verdictText(verdict)}`);
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
