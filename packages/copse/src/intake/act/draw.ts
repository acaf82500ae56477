/**
 * Schedules with a work source take its items one by one: each run takes the next open item that has no task.
 *
 * The source is read before the transaction that fires, by the process that holds it. In that transaction the item's key must
 * still be free; otherwise the next item is tried. So one item is one task, and a time is fired once, on any number of machines.
 * A source that cannot be read keeps the run owed.
 */

import { type Outcome } from '../../board/context.ts';
import { refused } from '../../kernel/decision.ts';
import { LeadSilence } from '../../queue/lead/leadership.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Source, SourceProblem } from '../port.ts';
import { limitedUntil } from '../rules/limit.ts';
import { whyNotLetIn } from '../rules/reconcile.ts';
import type { ScheduleDefinition } from '../rules/schedule.ts';
import type { SeenItem } from '../rules/source.ts';
import { holdSource } from './hold.ts';
import { busy, sourceNamed } from './one-item.ts';
import { remember } from './remember.ts';
import { type DrawnItem, fireOne, loadDueRuns, oweRun, runSchedule } from './schedules.ts';
import { isForAll, syncSource } from './sync.ts';

/** Schedules that now want an item of this source. */
export async function loadDueDraws(
  context: RunContext,
  { name }: Pick<Source, 'name'>,
): Promise<readonly ScheduleDefinition[]> {
  const { intake } = context;
  const drawing = intake?.schedules.filter(({ workSource }) => workSource === name) ?? [];
  return intake === undefined ? [] : loadDueRuns(context, intake, drawing);
}

/** Fires these with the waiting items of the source. Null: none is due any more. */
export async function drawItems(
  context: RunContext,
  source: Source,
  waiting: readonly SeenItem[],
  {
    due,
    onProblem,
  }: { readonly due: readonly ScheduleDefinition[]; readonly onProblem: (reason: string) => void },
): Promise<SourceProblem | null> {
  const { intake } = context;
  if (intake === undefined) return null;
  const line = new WaitingLine(source, waiting);
  for (const definition of due) {
    for (;;) {
      const item = await line.first();
      if (item !== null && 'kind' in item) return item;
      const outcome = await fireOne(context, intake, definition, { item });
      if (outcome.kind === 'refused') {
        line.drop();
        if (item !== null && outcome.refusal.code === 'already_a_task') continue;
        onProblem(`Schedule ${definition.id}: ${outcome.refusal.reason}`);
      } else if (outcome.value !== null) line.drop();
      break;
    }
  }
  return null;
}

export async function oweRuns(context: RunContext, due: readonly ScheduleDefinition[]): Promise<void> {
  const { intake } = context;
  if (intake !== undefined) for (const definition of due) await oweRun(context, intake, definition);
}

/** Waiting items in the order of their source, asked one by one whether they are let in. */
class WaitingLine {
  readonly #source: Source;
  readonly #waiting: SeenItem[];
  #first: DrawnItem | null = null;
  #problem: SourceProblem | null = null;
  #failures = 0;

  constructor(source: Source, waiting: readonly SeenItem[]) {
    this.#source = source;
    this.#waiting = [...waiting];
  }

  /** Null: none waits. A problem: an item might be let in, and its source cannot tell now. */
  async first(): Promise<DrawnItem | SourceProblem | null> {
    const source = this.#source;
    while (this.#first === null) {
      const seen = this.#waiting.shift();
      if (seen === undefined) return this.#problem;
      const letIn = await source.letIn(seen);
      if (letIn.kind === 'failed') {
        this.#failures += 1;
        this.#problem = { ...letIn, reason: `${source.name}#${seen.id}: ${letIn.reason}` };
        if (isForAll(letIn, this.#failures)) return this.#problem;
      } else if (whyNotLetIn(source.onlyFrom, seen, letIn) === null) {
        this.#first = { source: source.name, seen, by: letIn.by };
      }
    }
    return this.#first;
  }

  drop(): void {
    this.#first = null;
  }
}

/** A person starts a run that takes an item. */
export async function runDrawing(
  context: RunContext,
  definition: ScheduleDefinition,
): Promise<Outcome<Task>> {
  const { clock, policy, sourceMemories } = context;
  const source = sourceNamed(context, definition.workSource ?? '');
  if ('refusal' in source) return source;
  const { name } = source;
  const unread = (reason: string) =>
    refused('wrong_status', `The source ${name} cannot be read: ${reason}`, `copse sources show ${name}`);
  if (limitedUntil(sourceMemories.load(name).limit, clock.now()) !== null)
    return unread('its rate limit has not ended.');
  const held = await holdSource(
    context,
    name,
    async (): Promise<Outcome<Task>> => {
      const synced = await syncSource(context, source);
      remember(context, name, synced.kind === 'failed' ? synced : synced.problem, true);
      if (synced.kind === 'failed') return unread(synced.reason);
      return startNext(context, definition, new WaitingLine(source, synced.waiting), unread);
    },
    { silence: new LeadSilence(), patienceMs: policy.sources.patienceMs },
  );
  return held.kind === 'held' ? held.value : busy(name);
}

async function startNext(
  context: RunContext,
  definition: ScheduleDefinition,
  line: WaitingLine,
  unread: (reason: string) => Outcome<never>,
): Promise<Outcome<Task>> {
  const { intake } = context;
  if (intake === undefined) throw new Error('A command has the schedules of copse.yml');
  for (;;) {
    const item = await line.first();
    if (item !== null && 'kind' in item) return unread(item.reason);
    const outcome = await runSchedule(context, intake, definition, item);
    if (item === null || outcome.kind === 'done' || outcome.refusal.code !== 'already_a_task') return outcome;
    line.drop();
  }
}
