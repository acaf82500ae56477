import { type TriggerWork, runTrigger } from '../../intake/act/triggers.ts';
import type { Intake } from '../../intake/ports/intake.ts';
import { parseItem } from '../../intake/rules/trigger.ts';
import { type AgentName, brand } from '../../kernel/ids.ts';
import type { WorkItem } from '../../tasks/rules/task.ts';
import type { Access, CloneHere } from '../access.ts';
import { fail, orFail } from '../failure.ts';
import { type StartedRun, startedRun, startedView } from '../views/intake-views.ts';
import { quoted, withIntake } from './find.ts';

interface Input {
  /** A trigger of copse.yml, or an agent. */
  readonly trigger: string;
  readonly item?: string | undefined;
  readonly prompt?: string | undefined;
}

export async function act(access: Access, input: Input): Promise<StartedRun> {
  return withIntake(access, async (context, intake) => {
    const { name, agent, prompt } = await requireWork(access.here, intake, input.trigger);
    const workItem = input.item === undefined ? null : requireItem(input.item);
    const work = { name, agent, prompt: input.prompt ?? prompt, workItem };
    return startedRun(orFail(await runTrigger(context, work)), context.clock.now());
  });
}

export function view(started: StartedRun) {
  return startedView(started);
}

async function requireWork(
  here: CloneHere,
  { triggers }: Intake,
  text: string,
): Promise<Omit<TriggerWork, 'workItem'>> {
  const trigger = triggers.find(({ name }) => name === text);
  if (trigger !== undefined) return trigger;
  const { agents } = await here.config();
  if (Object.hasOwn(agents, text)) return { name: text, agent: brand<AgentName>(text), prompt: null };
  return fail('not_found', `copse.yml has no trigger or agent ${quoted(text)}.`, 'copse config show');
}

function requireItem(text: string): WorkItem {
  return (
    parseItem(text) ??
    fail(
      'invalid',
      `The item must be a source and an id, for example github#12, not ${quoted(text)}.`,
      'copse trigger --help',
    )
  );
}
