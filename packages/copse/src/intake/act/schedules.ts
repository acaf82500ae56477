/**
 * Schedules of copse.yml on the board, and their runs.
 *
 * An orchestrator sets the schedules of its copse.yml when it starts; the last one that started decides. Another machine whose
 * copse.yml has other times leaves the schedule alone. Who fires decides again in the transaction that creates the task, from
 * the locked record: a kill leaves either both the task and the new `nextAt`, or neither. Runs that take an item: draw.ts.
 */

import { type Change, type Context, type Outcome, change } from '../../board/context.ts';
import type { BoardReader } from '../../board/port.ts';
import { decided, refused } from '../../kernel/decision.ts';
import { type JobId, type NodeId, type ScheduleId, type Timestamp, brand, drawId } from '../../kernel/ids.ts';
import { blankDefinition, createTask } from '../../tasks/act/tasks.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Intake } from '../ports/intake.ts';
import type { SeenItem } from '../rules/source.ts';
import {
  type After,
  type Due,
  type DuePlan,
  type Schedule,
  type ScheduleDefinition,
  decideDue,
  intervalAfter,
  goingStatuses,
  isSameTiming,
} from '../rules/schedule.ts';
import { runDefinition } from '../rules/run-task.ts';
import { takeItemIn } from './take-item.ts';

export interface IntakeContext extends Context {
  readonly node: NodeId;
}

/** In the order in which they happen; each may be the last thing a killed process did. */
export type FiringStep = 'decided' | 'created' | 'recorded';

/** An item that a run takes, as its source had it before the transaction. */
export interface DrawnItem {
  readonly source: string;
  readonly seen: SeenItem;
  readonly by: string | null;
}

export interface FiringOptions {
  readonly onStep?: (step: FiringStep) => void;
  /** Null: its source has none. Absent: its source was not read, so that only a run with a prompt can start. */
  readonly item?: DrawnItem | null;
}

export interface Firing {
  readonly definition: ScheduleDefinition;
  /** Null: it passed without a run, or another machine was faster. */
  readonly task: Task | null;
}

/** What this node's copse.yml no longer has is removed. `onProblem`: one that cannot be used, which stops no other. */
export async function setSchedules(
  context: IntakeContext,
  intake: Intake,
  { onProblem }: { readonly onProblem: (reason: string) => void },
): Promise<void> {
  const schedules = intake.schedules.filter((one) => isUsable(context, intake, one, onProblem));
  const stored = await context.board.list('schedule');
  const wanted = new Set(intake.schedules.map(({ id }) => id));
  const isSettled =
    schedules.every((one) => stored.some((record) => isDefined(record, one))) &&
    stored.every(({ id }) => wanted.has(id));
  if (isSettled) return;
  const outcome = await changeSet(context, async (change) => {
    for (const definition of schedules) await setOne(change, context, intake, definition);
    for (const { id } of stored) {
      const record = wanted.has(id) ? undefined : await change.board.get('schedule', id);
      // Another node defines it.
      if (record === undefined || record.definedBy !== context.node) continue;
      await change.apply(decided({ type: 'schedule.removed', id, at: change.at }));
    }
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}

function isUsable(
  { clock }: Context,
  intake: Intake,
  definition: ScheduleDefinition,
  onProblem: (reason: string) => void,
): boolean {
  try {
    timesOf(intake, definition, clock.now())(clock.now());
    return true;
  } catch (error) {
    onProblem(`${definition.id}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/** For changes of definitions, one at a time: two machines that start together set a schedule once. */
function changeSet<T>(context: Context, work: (change: Change) => Promise<T>): Promise<Outcome<T>> {
  return change(context, async (change) => {
    await change.board.lockSchedule();
    return work(change);
  });
}

/** For a person's command: times that another copse.yml set stay as they are. */
async function onBoard(
  change: Change,
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
): Promise<Schedule> {
  const known = await change.board.get('schedule', definition.id);
  return known ?? setOne(change, context, intake, definition);
}

/** The record in this transaction, as copse.yml defines it. */
async function setOne(
  change: Change,
  { node }: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
): Promise<Schedule> {
  const { id, agent, name, timing } = definition;
  const known = await change.board.get('schedule', id);
  if (known !== undefined && isDefined(known, definition)) return known;
  const nextAt = timesOf(intake, definition, change.at)(change.at);
  await change.apply(
    decided({ type: 'schedule.set', id, at: change.at, agent, name, timing, nextAt, definedBy: node }),
  );
  return change.require('schedule', id);
}

function isDefined({ id, timing }: Schedule, definition: ScheduleDefinition): boolean {
  return id === definition.id && isSameTiming(timing, definition.timing);
}

/**
 * Starts what is due, but for runs that take an item. `onProblem`: a schedule that cannot be used, which stops no other. `onElsewhere`: one that this machine
 * leaves alone, because the board has the times of another copse.yml.
 */
export async function fireDue(
  context: IntakeContext,
  intake: Intake,
  options: {
    readonly onProblem: (reason: string) => void;
    readonly onStep?: (step: FiringStep) => void;
    readonly onElsewhere?: (schedule: Schedule) => void;
  },
): Promise<readonly Firing[]> {
  const stored = new Map((await context.board.list('schedule')).map((one) => [one.id, one]));
  const fired: Firing[] = [];
  for (const definition of intake.schedules) {
    const schedule = stored.get(definition.id);
    try {
      if (schedule === undefined) {
        // The machine that had other times gave it up. One that cannot be used was told when they were set.
        if (isUsable(context, intake, definition, () => {}))
          await changeSet(context, (change) => setOne(change, context, intake, definition));
        continue;
      }
      if (!isDefined(schedule, definition)) {
        options.onElsewhere?.(schedule);
        continue;
      }
      const { kind } = await loadPlan(context, intake, definition, schedule);
      if (kind === 'wait' || (kind === 'run' && definition.workSource !== null)) continue;
      const outcome = await fireOne(context, intake, definition, options);
      if (outcome.kind === 'refused') options.onProblem(`${definition.id}: ${outcome.refusal.reason}`);
      else fired.push({ definition, task: outcome.value });
    } catch (error) {
      options.onProblem(`${definition.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return fired;
}

/** Of these, the ones whose time has come for a run. */
export async function loadDueRuns(
  context: IntakeContext,
  intake: Intake,
  definitions: readonly ScheduleDefinition[],
): Promise<readonly ScheduleDefinition[]> {
  const due: ScheduleDefinition[] = [];
  for (const definition of definitions) {
    const schedule = await context.board.get('schedule', definition.id);
    if (schedule === undefined || !isDefined(schedule, definition)) continue;
    if ((await loadPlan(context, intake, definition, schedule)).kind === 'run') due.push(definition);
  }
  return due;
}

async function loadPlan(
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
  schedule: Schedule,
): Promise<DuePlan> {
  const plan = (goesOn: boolean) =>
    planOf(context, intake, definition, schedule, goesOn, context.clock.now());
  // Only what is due asks for the runs that go on.
  const first = plan(false);
  return first.kind === 'wait' ? first : plan(await goesOnNow(context.board, definition));
}

/** Its source cannot be read now: the run is owed, so that it does not become a missed one meanwhile. */
export async function oweRun(
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
): Promise<void> {
  await change(context, async (change) => {
    const { id } = definition;
    const schedule = await change.board.get('schedule', id);
    if (schedule === undefined || !isDefined(schedule, definition) || schedule.owed > 0) return;
    const goesOn = await goesOnNow(change.board, definition);
    const plan = planOf(context, intake, definition, schedule, goesOn, change.at);
    if (plan.kind !== 'run') return;
    const due = { ...plan.due, owed: plan.due.owed + 1 };
    await change.apply(decided({ type: 'schedule.passed', id, at: change.at, ...due, because: 'unread' }));
  });
}

/** Refused as `already_a_task`: the item was taken meanwhile, and the schedule is still due. */
export async function fireOne(
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
  { onStep = () => {}, item }: FiringOptions = {},
): Promise<Outcome<Task | null>> {
  return change(context, async (change) => {
    const { id } = definition;
    const schedule = await change.board.get('schedule', id);
    if (schedule === undefined || !isDefined(schedule, definition)) return null;
    const goesOn = await goesOnNow(change.board, definition);
    const plan = planOf(context, intake, definition, schedule, goesOn, change.at);
    onStep('decided');
    if (plan.kind === 'wait') return null;
    if (plan.kind === 'run') {
      // It became due after its source was last asked for.
      if (definition.workSource !== null && item === undefined) return null;
      const made = await createRun(change, context, definition, plan.due, { onStep, item: item ?? null });
      if (made !== null) return made;
    }
    const because = plan.kind === 'pass' ? plan.because : 'no_item';
    await change.apply(decided({ type: 'schedule.passed', id, at: change.at, ...plan.due, because }));
    onStep('recorded');
    return null;
  });
}

/** Any of its runs: a person may have started one beside the last. */
async function goesOnNow(board: BoardReader, { id }: ScheduleDefinition): Promise<boolean> {
  const going = await board.tasks({ statuses: goingStatuses, order: 'recent' });
  return going.some(({ origin }) => origin?.kind === 'schedule' && origin.schedule === id);
}

function planOf(
  { policy }: Context,
  intake: Intake,
  definition: ScheduleDefinition,
  schedule: Schedule,
  goesOn: boolean,
  now: Timestamp,
): DuePlan {
  const after = timesOf(intake, definition, schedule.nextAt ?? now);
  return decideDue(schedule, definition, { isGoing: goesOn, after }, policy.schedules, now);
}

/** Null: it has no work now. */
async function createRun(
  change: Change,
  context: IntakeContext,
  definition: ScheduleDefinition,
  due: Due,
  { onStep = () => {}, item = null }: FiringOptions = {},
): Promise<Task | null> {
  const { id, workSource } = definition;
  if (workSource !== null && item === null) return null;
  const job: JobId = brand(drawId('jb-', context.random));
  const task = await createRunTask(change, context, definition, { job, item });
  onStep('created');
  await change.apply(decided({ type: 'schedule.fired', id, at: change.at, ...due, job, task: task.id }));
  onStep('recorded');
  return task;
}

async function createRunTask(
  change: Change,
  context: IntakeContext,
  { id, name, agent, prompt }: ScheduleDefinition,
  { job, item }: { readonly job: JobId; readonly item: DrawnItem | null },
): Promise<Task> {
  const { policy } = context;
  const origin = { kind: 'schedule', schedule: id, job } as const;
  if (item === null) {
    const definition = runDefinition(
      blankDefinition(policy),
      { name, agent, prompt, item: null },
      policy.text,
    );
    return createTask(change, context, definition, { origin });
  }
  const { source, seen, by } = item;
  // The text of the task is the item's alone, so that it follows the item.
  const run = { agent, origin: { ...origin, ...(prompt !== null && { prompt }) } };
  const taken = await takeItemIn(change, context, { source, seen, taking: { by, adopts: false, run } });
  return change.require('task', taken.id);
}

/** Times of a definition; those of an interval count from `anchor`. */
function timesOf({ cron }: Intake, { timing }: Pick<ScheduleDefinition, 'timing'>, anchor: Timestamp): After {
  return timing.type === 'interval' ? intervalAfter(timing.everyMs, anchor) : (at) => cron.after(timing, at);
}

/** A person starts it now, also while it is paused or a run goes on. Its times stay as they are. */
export async function runSchedule(
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
  item: DrawnItem | null = null,
): Promise<Outcome<Task>> {
  return changeSet(context, async (change) => {
    const { nextAt, owed, lastDueAt } = await onBoard(change, context, intake, definition);
    const due = { nextAt, owed, dueAt: lastDueAt ?? change.at };
    const task = await createRun(change, context, definition, due, { item });
    return task ?? change.refuse(refuseNoItem(definition));
  });
}

function refuseNoItem({ id, workSource }: ScheduleDefinition) {
  return refused(
    'wrong_status',
    `${id} has nothing to do: the source ${workSource} has no open item without a task.`,
    `copse schedule show ${id}`,
  );
}

export async function pauseSchedule(
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
): Promise<Outcome<Schedule>> {
  return changeSet(context, async (change) => {
    const { id, pausedAt } = await onBoard(change, context, intake, definition);
    if (pausedAt !== null)
      change.refuse(refused('wrong_status', `${id} is already paused.`, `copse schedule resume ${id}`));
    await change.apply(decided({ type: 'schedule.paused', id, at: change.at }));
    return change.require('schedule', id);
  });
}

/** Times that passed while it was paused are not caught up with. */
export async function resumeSchedule(
  context: IntakeContext,
  intake: Intake,
  definition: ScheduleDefinition,
): Promise<Outcome<Schedule>> {
  return changeSet(context, async (change) => {
    const { id, pausedAt, nextAt, timing } = await onBoard(change, context, intake, definition);
    if (pausedAt === null)
      change.refuse(refused('wrong_status', `${id} is not paused.`, `copse schedule show ${id}`));
    const after = timesOf(intake, { timing }, nextAt ?? change.at);
    await change.apply(decided({ type: 'schedule.resumed', id, at: change.at, nextAt: after(change.at) }));
    return change.require('schedule', id);
  });
}

export interface KnownSchedule {
  readonly id: ScheduleId;
  /** Null: the copse.yml here does not have it. */
  readonly definition: ScheduleDefinition | null;
  /** Null: no orchestrator has seen it yet. */
  readonly schedule: Schedule | null;
  /** The board has the times of another copse.yml. */
  readonly isElsewhere: boolean;
  readonly next: readonly Timestamp[];
}

export async function loadSchedules(context: Context, intake: Intake): Promise<readonly KnownSchedule[]> {
  const stored = new Map((await context.board.list('schedule')).map((one) => [one.id, one]));
  const here = intake.schedules.map((definition) =>
    known(context, intake, definition, stored.get(definition.id) ?? null),
  );
  const others = [...stored.values()].filter(({ id }) => !intake.schedules.some((one) => one.id === id));
  return [...here, ...others.map((schedule) => known(context, intake, null, schedule))];
}

function known(
  { clock, policy }: Context,
  intake: Intake,
  definition: ScheduleDefinition | null,
  schedule: Schedule | null,
): KnownSchedule {
  const isElsewhere = definition !== null && schedule !== null && !isDefined(schedule, definition);
  const by = isElsewhere ? schedule : (definition ?? schedule);
  const id = (definition ?? schedule)?.id;
  if (by === null || id === undefined) throw new Error('A schedule is defined, or on the board');
  const first = schedule?.nextAt ?? null;
  const now = clock.now();
  const after = timesOf(intake, by, first ?? now);
  const next: Timestamp[] = [];
  if (schedule === null || first !== null)
    for (
      let at = first ?? after(now);
      at !== null && next.length < policy.schedules.shownTimes;
      at = after(at)
    )
      next.push(at);
  return { id, definition, schedule, isElsewhere, next: schedule?.pausedAt == null ? next : [] };
}
