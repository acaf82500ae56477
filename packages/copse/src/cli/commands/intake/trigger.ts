import type { Intake } from '../../../intake/ports/intake.ts';
import { type TriggerWork, runTrigger } from '../../../intake/act/triggers.ts';
import { parseItem } from '../../../intake/rules/trigger.ts';
import { type AgentName, brand } from '../../../kernel/ids.ts';
import { taskView } from '../../../operations/views/views.ts';
import { type WorkItem, jobOf } from '../../../tasks/rules/task.ts';
import { configOf, requireRepository } from '../../../compose/open.ts';
import { printAhead } from '../../after/ahead.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { taskLine } from '../../screen/render.ts';
import { quoted, withIntake } from './with-intake.ts';

interface Options {
  readonly item?: string;
  readonly prompt?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withIntake(cli, async (context, intake) => {
    const { name, agent, prompt } = await requireWork(cli, intake, words[0] ?? '');
    const workItem = options.item === undefined ? null : requireItem(options.item);
    const work = { name, agent, prompt: options.prompt ?? prompt, workItem };
    const task = orFail(await runTrigger(context, work));
    const job = jobOf(task.origin);
    if (options.json) return cli.output.json({ job, task: taskView(task) });
    cli.output.line(`Started ${job}: ${taskLine(task, cli.output, context.clock.now())}`);
    await printAhead(cli, context, task);
  });
}

/** A trigger of copse.yml, or an agent. */
async function requireWork(
  cli: Cli,
  { triggers }: Intake,
  word: string,
): Promise<Omit<TriggerWork, 'workItem'>> {
  const trigger = triggers.find(({ name }) => name === word);
  if (trigger !== undefined) return trigger;
  const { agents } = await configOf(requireRepository(cli));
  if (Object.hasOwn(agents, word)) return { name: word, agent: brand<AgentName>(word), prompt: null };
  return fail('not_found', `copse.yml has no trigger or agent ${quoted(word)}.`, 'copse config show');
}

function requireItem(text: string): WorkItem {
  return (
    parseItem(text) ??
    fail(
      'invalid',
      `--item must be a source and an id, as github#12, not ${quoted(text)}.`,
      'copse trigger --help',
    )
  );
}
