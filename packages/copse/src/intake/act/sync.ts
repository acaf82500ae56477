/**
 * Looks at a source and brings its items onto the board. Each step is one transaction, and safe to repeat: a kill between two
 * of them leaves the rest to the next look.
 *
 * A task is cancelled before its item is recorded as closed: after a kill in between, the next look closes the item.
 */

import { decided, refused } from '../../kernel/decision.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { BoardAway } from '../../board/port.ts';
import { cancelTask } from '../../agents/act/stop-task.ts';
import type { RunContext } from '../../queue/context.ts';
import { blankDefinition, createTask, setDependencies } from '../../tasks/act/tasks.ts';
import type { Task, TaskSummary } from '../../tasks/rules/task.ts';
import type { Source, SourceProblem } from '../port.ts';
import { type Item, itemKey, textMark } from '../rules/item.ts';
import {
  type ItemStep,
  type TaskNow,
  decideText,
  isWaiting,
  planSync,
  textOf,
  whyNotLetIn,
} from '../rules/reconcile.ts';
import type { SeenItem } from '../rules/source.ts';

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
  let problem: SourceProblem | null = null;
  let failures = 0;
  for (const step of plan) {
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
  return { kind: 'synced', seen: read.items.length, steps, notes: read.notes, problem };
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

/** The task and the item's record, in one transaction: the item's key is unique there. */
export async function takeItem(
  context: RunContext,
  { name }: Pick<Source, 'name'>,
  seen: SeenItem,
  { by, adopts }: { readonly by: string | null; readonly adopts: boolean },
): Promise<Outcome<TaskSummary>> {
  return change(context, async (change) => {
    const id = itemKey(name, seen.id);
    const before = await change.board.get('item', id);
    if (before !== undefined)
      change.refuse(
        refused(
          'already_a_task',
          `${name}#${seen.id} is already ${before.task}.`,
          `copse show ${before.task}`,
        ),
      );
    const dependsOn = await resolved(change, name, seen.dependsOn);
    const { title, body } = textOf(seen);
    const workItem = { source: name, id: seen.id, url: seen.url };
    const definition = {
      ...blankDefinition(context.policy),
      title,
      body,
      workItem,
      dependsOn: dependsOn.map(({ task }) => task),
    };
    const origin = {
      kind: 'item',
      source: name,
      item: seen.id,
      ...(seen.url !== null && { url: seen.url }),
      ...(by !== null && { by }),
    } as const;
    // A trigger or a person may have made a task of the item before it was seen here.
    const [named] = adopts ? await change.board.tasks({ workItem, order: 'urgent', limit: 1 }) : [];
    const task = named ?? (await createTask(change, context, definition, { origin }));
    const { url, author } = seen;
    const what = { source: name, item: seen.id, url, title, mark: textMark(title, body), by, author };
    const linked = dependsOn.map(({ item }) => item);
    await change.apply(
      decided({ type: 'item.taken', id, at: change.at, ...what, dependsOn: linked, task: task.id }),
    );
    return task;
  });
}

/** Those that have a task. */
async function resolved(
  change: Change,
  source: string,
  ids: readonly string[],
): Promise<readonly Pick<Item, 'item' | 'task'>[]> {
  const found: Item[] = [];
  for (const id of ids) {
    const item = await change.board.get('item', itemKey(source, id));
    if (item !== undefined) found.push(item);
  }
  const statuses = await change.board.statuses(found.map(({ task }) => task));
  return found.filter(({ task }) => statuses.has(task));
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
