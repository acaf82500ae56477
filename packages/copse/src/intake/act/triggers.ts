/** Runs on request: by a person's command, or by a genuine request from outside, each of which counts once. */

import { type Change, type Context, type Outcome, change } from '../../board/context.ts';
import { decided, refused } from '../../kernel/decision.ts';
import { type AgentName, type DeliveryId, type JobId, brand, drawId } from '../../kernel/ids.ts';
import { blankDefinition, createTask } from '../../tasks/act/tasks.ts';
import type { Task, WorkItem } from '../../tasks/rules/task.ts';
import type { Intake } from '../ports/intake.ts';
import type { Signatures } from '../ports/signatures.ts';
import { runDefinition } from '../rules/run-task.ts';
import { type TriggerDefinition, type TriggerRequest, refuseRequest } from '../rules/trigger.ts';

export interface TriggerWork {
  /** Of the trigger, or of the agent. */
  readonly name: string;
  readonly agent: AgentName;
  readonly prompt: string | null;
  readonly workItem: WorkItem | null;
}

/** A person's own command needs no signature. */
export async function runTrigger(context: Context, work: TriggerWork): Promise<Outcome<Task>> {
  return change(context, async (change) => createRun(change, context, work));
}

async function createRun(
  change: Change,
  context: Context,
  { name, agent, prompt, workItem }: TriggerWork,
): Promise<Task> {
  const { policy, random } = context;
  if (prompt === null && workItem === null)
    change.refuse(
      refused('invalid', `${name} has no prompt of its own.`, `copse trigger ${name} --prompt "…"`),
    );
  const title = workItem && `${workItem.source} ${workItem.id}`;
  const item = workItem && { title: title ?? '', body: prompt ?? '', workItem };
  const job: JobId = brand(drawId('jb-', random));
  const definition = runDefinition(blankDefinition(policy), { name, agent, prompt, item }, policy.text);
  return createTask(change, context, definition, { origin: { kind: 'trigger', trigger: name, job } });
}

export type Received =
  | { readonly kind: 'started'; readonly task: Task }
  /** The source is read at once; what it says decides. */
  | { readonly kind: 'woken'; readonly source: string }
  | { readonly kind: 'replayed' };

/** In the order in which they happen; each may be the last thing a killed process did. */
export type ReceivingStep = 'created' | 'recorded';

/** The operation behind `POST /triggers/<name>`. The body is not read: a request starts what copse.yml says. */
export async function receiveRequest(
  context: Context,
  { triggers }: Pick<Intake, 'triggers'>,
  signatures: Signatures,
  {
    name,
    request,
    onStep = () => {},
  }: {
    readonly name: string;
    readonly request: TriggerRequest;
    readonly onStep?: (step: ReceivingStep) => void;
  },
): Promise<Outcome<Received>> {
  const trigger = triggers.find((one) => one.name === name) ?? null;
  const genuine = await signatures.verify(trigger, request);
  if (trigger === null || genuine === undefined) return refuseRequest();
  return change(context, async (change): Promise<Received> => {
    const ids = genuine.once.map((once) => brand<DeliveryId>(`${name}/${once}`));
    // Taken first of all: of two equal requests at once, the second one finds the records of the first.
    await change.board.lockSchedule();
    for (const id of ids)
      if ((await change.board.get('delivery', id)) !== undefined) return { kind: 'replayed' };
    const task = await startOf(change, context, trigger);
    onStep('created');
    const { at } = change;
    const source = trigger.workSource;
    for (const id of ids)
      await change.apply(
        decided({ type: 'delivery.received', id, at, trigger: name, task: task?.id ?? null, source }),
      );
    onStep('recorded');
    if (task !== null) return { kind: 'started', task };
    return { kind: 'woken', source: source ?? '' };
  });
}

async function startOf(
  change: Change,
  context: Context,
  { name, agent, prompt, workSource }: TriggerDefinition,
): Promise<Task | null> {
  if (workSource !== null) return null;
  return createRun(change, context, { name, agent, prompt, workItem: null });
}
