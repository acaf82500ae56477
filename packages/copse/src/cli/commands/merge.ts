import type { Landed } from '../../app/land.ts';
import { landNow, queueTask } from '../../app/merge.ts';
import type { RunContext } from '../../app/run-context.ts';
import type { TaskId } from '../../domain/ids.ts';
import { shown } from '../../domain/text.ts';
import { CommandFailed, orFail } from '../failure.ts';
import type { Cli, Invocation } from '../invocation.ts';
import { requireTaskIds } from '../with-board.ts';
import { withRun } from '../with-run.ts';

interface Options {
  readonly json?: boolean;
}

/** Somebody else leads the queue: they are asked this often whether it landed. */
const LOOK_EVERY_MS = 300;

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const ids = await requireTaskIds(context.board, words);
    const landed: Landed[] = [];
    for (const id of ids) orFail(await queueTask(context, id));
    for (const id of ids) landed.push(await land(cli, context, id, options));
    if (options.json) cli.output.json({ landings: landed });
    const failed = landed.find(({ landing }) => landing !== 'landed');
    if (failed !== undefined) throw new CommandFailed(explain(failed));
  });
}

async function land(cli: Cli, context: RunContext, id: TaskId, { json }: Options): Promise<Landed> {
  const { output } = cli;
  const landed = (await landNow(context, id)) ?? (await waitForOther(context, id));
  if (json || landed.landing !== 'landed') return landed;
  output.line(`${output.style('green', 'Landed')} #${id} as ${landed.commit.slice(0, 10)}`);
  for (const note of landed.notes) output.line(`    ${shown(note)}`);
  for (const task of landed.promoted) output.line(`    ${task} can begin`);
  return landed;
}

async function waitForOther(context: RunContext, id: TaskId): Promise<Landed> {
  const { board, clock } = context;
  for (;;) {
    const task = await board.get('task', id);
    if (task?.state.status === 'done' && task.state.commit !== null)
      return { landing: 'landed', task: id, commit: task.state.commit, promoted: [], notes: [] };
    if (task?.state.status !== 'landing')
      return { landing: 'gone', task: id, reason: `${id} is ${task?.state.status ?? 'gone'} now` };
    const own = await landNow(context, id);
    if (own !== undefined) return own;
    await clock.sleep(LOOK_EVERY_MS);
  }
}

function explain(landed: Landed): ConstructorParameters<typeof CommandFailed>[0] {
  const { task } = landed;
  switch (landed.landing) {
    case 'conflicts':
      return {
        code: 'wrong_status',
        reason: landed.cause.reason,
        next: [`copse resume ${task}`, `copse work ${task} --resume`],
      };
    case 'waits':
      return {
        code: 'wrong_status',
        reason: `${task} stays in the queue: ${landed.reason}.`,
        next: [`copse merge ${task}`, 'copse orchestrate'],
      };
    case 'gone':
      return { code: 'wrong_status', reason: `${landed.reason}.`, next: [`copse why ${task}`] };
    case 'landed':
      throw new Error(`${task} landed, which is no failure`);
    default:
      throw new Error(`A landing cannot end ${String(landed satisfies never)}`);
  }
}
