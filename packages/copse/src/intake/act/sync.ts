/**
 * Looks at a source and brings its items onto the board. Each step is one transaction, and safe to repeat: a kill between two
 * of them leaves the rest to the next look.
 *
 * A task is cancelled before its item is recorded as closed: after a kill in between, the next look closes the item.
 */

import { decided } from '../../kernel/decision.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { counted } from '../../kernel/text.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { BoardAway } from '../../board/port.ts';
import { cancelTask } from '../../agents/act/stop-task.ts';
import type { RunContext } from '../../queue/context.ts';
import { setDependencies } from '../../tasks/act/tasks.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Source, SourceProblem } from '../port.ts';
import { type Item, textMark } from '../rules/item.ts';
import {
  type ItemStep,
  type TaskNow,
  decideText,
  isWaiting,
  planSync,
  whyNotLetIn,
} from '../rules/reconcile.ts';
import type { SeenItem } from '../rules/source.ts';
import { resolved, takeItem } from './take-item.ts';

export interface SyncedStep {
  readonly step: ItemStep;
  /** The task that it is about; null when there is none, or in a trial. */
  readonly task: TaskId | null;
  /** Why it was not done; null: it was done. */
  readonly why: string | null;
}

export interface SourceSynced {
  readonly kind: 'synced';
  /** How many items the source has. */
  readonly seen: number;
  readonly steps: readonly SyncedStep[];
  /** Open items without a task that its schedules take, one with each run. */
  readonly waiting: readonly SeenItem[];
  readonly notes: readonly string[];
  /** The last item that failed; null: none did. The others were dealt with. */
  readonly problem: SourceProblem | null;
}

export interface SyncOptions {
  /** Only says what it would do. */
  readonly isTrial?: boolean;
  /** Called after each step, for tests that stop there. */
  readonly onStep?: (step: string) => void;
}

export async function syncSource(
  context: RunContext,
  source: Source,
  { isTrial = false, onStep }: SyncOptions = {},
): Promise<SourceSynced | SourceProblem> {
  const known = await itemsOf(context, source.name);
  const tasks = await tasksNow(context, known);
  const waiting = known.map((item) => ({ ...item, isWaiting: isWaiting(tasks.get(item.task)?.status) }));
  const read = await source.read(waiting);
  if (read.kind === 'failed') return read;
  onStep?.('read');
  const facts = { settings: source, seen: read.items, known, unread: new Set(read.unread) };
  const plan = planSync({ ...facts, taskOf: (id) => tasks.get(id) });
  const steps: SyncedStep[] = [];
  const unclaimed: SeenItem[] = [];
  let problem: SourceProblem | null = null;
  let failures = 0;
  for (const step of plan) {
    if (step.kind === 'take' && (await isForSchedule(context, source, step.seen))) {
      unclaimed.push(step.seen);
      continue;
    }
    const done = await follow(context, source, step, isTrial);
    if ('kind' in done) {
      steps.push({ step, task: 'item' in step ? step.item.task : null, why: done.reason });
      problem = { ...done, reason: `${named(source, step)}: ${done.reason}` };
      failures += 1;
      if (isForAll(done, failures)) break;
      continue;
    }
    failures = 0;
    steps.push(done);
    onStep?.(step.kind);
  }
  const notes = [...read.notes, ...drawnNote(source, unclaimed.length)];
  return { kind: 'synced', seen: read.items.length, steps, waiting: unclaimed, notes, problem };
}

/** An item that a trigger or a person made a task of is taken for that task. */
async function isForSchedule(
  { board }: Pick<RunContext, 'board'>,
  { name, drawnBy }: Source,
  { id }: SeenItem,
): Promise<boolean> {
  if (drawnBy.length === 0) return false;
  return (await board.tasks({ workItem: { source: name, id }, order: 'urgent', limit: 1 })).length === 0;
}

function drawnNote({ drawnBy }: Source, count: number): readonly string[] {
  if (drawnBy.length === 0) return [];
  const who = drawnBy.length === 1 ? 'Its schedule' : 'Its schedules';
  const verb = drawnBy.length === 1 ? 'takes' : 'take';
  return [
    `${who} ${drawnBy.join(', ')} ${verb} its items, one with each run: ${counted(count, 'item')} without a task.`,
  ];
}

function named({ name }: Source, step: ItemStep): string {
  return `${name}#${'item' in step ? step.item.item : step.seen.id}`;
}

/** What the next item would meet as well: a rate limit, or a source in trouble. */
export function isForAll({ until }: SourceProblem, failures: number): boolean {
  return until !== null || failures >= defaultPolicy.sources.mostFailures;
}

export async function itemsOf(
  { board }: Pick<RunContext, 'board'>,
  source: string,
): Promise<readonly Item[]> {
  return (await board.list('item')).filter((item) => item.source === source);
}

async function tasksNow(context: RunContext, items: readonly Item[]): Promise<ReadonlyMap<TaskId, TaskNow>> {
  const found = new Map<TaskId, TaskNow>();
  for (const { task: id } of items) {
    const task = await context.board.get('task', id);
    if (task !== undefined) found.set(id, taskNow(task));
  }
  return found;
}

function taskNow({ state, title, body }: Task): TaskNow {
  return { status: state.status, mark: textMark(title, body) };
}

/** An item that fails stops no other. */
async function follow(
  context: RunContext,
  source: Source,
  step: ItemStep,
  isTrial: boolean,
): Promise<SyncedStep | SourceProblem> {
  try {
    return await takeStep(context, source, step, isTrial);
  } catch (error) {
    if (error instanceof BoardAway) throw error;
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error), until: null };
  }
}

async function takeStep(
  context: RunContext,
  source: Source,
  step: ItemStep,
  isTrial: boolean,
): Promise<SyncedStep | SourceProblem> {
  const task = 'item' in step ? step.item.task : null;
  if (step.kind === 'leave') return { step, task, why: step.why };
  if (step.kind === 'take') {
    const letIn = await source.letIn(step.seen);
    if (letIn.kind === 'failed') return letIn;
    const why = whyNotLetIn(source.onlyFrom, step.seen, letIn);
    if (why !== null || isTrial) return { step, task, why };
    const taken = await takeItem(context, source, step.seen, { by: letIn.by, adopts: true });
    return taken.kind === 'done'
      ? { step, task: taken.value.id, why: null }
      : { step, task, why: taken.refusal.reason };
  }
  if (isTrial) return { step, task, why: null };
  const outcome = await apply(context, source, step);
  return { step, task, why: outcome.kind === 'done' ? outcome.value : outcome.refusal.reason };
}

/** Why it changed nothing but the item's record, for people; null: it did what the step says. */
async function apply(
  context: RunContext,
  source: Source,
  step: Exclude<ItemStep, { kind: 'take' | 'leave' }>,
): Promise<Outcome<string | null>> {
  const { item } = step;
  if (step.kind === 'close' && step.cancels) {
    const reason = `${source.name}#${item.item} was closed`;
    const cancelled = await cancelTask(context, item.task, reason);
    if (cancelled.kind === 'refused') return cancelled;
  }
  return change(context, async (change) => {
    const { id, at } = { id: item.id, at: change.at };
    const now = await change.require('item', id);
    switch (step.kind) {
      case 'give':
      case 'note': {
        const task = await change.board.get('task', item.task);
        const { edits, noted, why } = decideText(now, task, step.seen, source.onlyFrom, at);
        if (edits !== null) await change.apply(edits);
        if (noted !== null) await change.apply(noted);
        return why;
      }
      case 'close':
      case 'reopen': {
        const isClosed = step.kind === 'close';
        if (now.isClosed !== isClosed)
          await change.apply(decided({ type: isClosed ? 'item.closed' : 'item.reopened', id, at }));
        return null;
      }
      case 'link':
        return link(change, now, step.dependsOn);
      default:
        throw new Error(`A step cannot be ${String(step satisfies never)}`);
    }
  });
}

/** Dependencies that a person added stay. One that would make a circle is recorded as seen, and not tried again. */
async function link(change: Change, item: Item, wanted: readonly string[]): Promise<string | null> {
  await change.board.lockDependencies();
  const task = await change.require('task', item.task);
  const [before, after] = [
    await resolved(change, item.source, item.dependsOn),
    await resolved(change, item.source, wanted),
  ];
  const own = new Set(before.map((one) => one.task));
  const kept = task.dependsOn.filter((id) => !own.has(id));
  const dependsOn = [...new Set([...kept, ...after.map((one) => one.task)])];
  const why = await setDependencies(change, task.id, dependsOn);
  await change.apply(decided({ type: 'item.linked', id: item.id, at: change.at, dependsOn: wanted }));
  return why;
}
