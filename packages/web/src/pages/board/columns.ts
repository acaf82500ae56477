/** The columns of the board. Every status is in exactly one. Only what changed is placed anew: thousands of tasks stay sorted. */

import { compareUrgency } from '../../../../copse/src/tasks/rules/priority.ts';
import type { TaskStatus, TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';

export const columns = ['needs', 'ready', 'working', 'landing', 'done'] as const;

export type Column = (typeof columns)[number];

export const columnTitles: Readonly<Record<Column, string>> = {
  needs: 'Needs you',
  ready: 'Ready',
  working: 'Working',
  landing: 'Landing',
  done: 'Done',
};

const columnOfStatus: Readonly<Record<TaskStatus, Column>> = {
  pending: 'ready',
  ready: 'ready',
  paused: 'ready',
  in_progress: 'working',
  stuck: 'needs',
  in_review: 'needs',
  needs_attention: 'needs',
  failed: 'needs',
  landing: 'landing',
  done: 'done',
  cancelled: 'done',
};

export function columnOf({ state }: Pick<TaskSummary, 'state'>): Column {
  return columnOfStatus[state.status];
}

type TaskMap = ReadonlyMap<string, TaskSummary>;
export type TasksInColumns = Readonly<Record<Column, readonly TaskSummary[]>>;

export interface Placed {
  readonly tasks: TaskMap;
  readonly columns: TasksInColumns;
}

/** More changes than this at once are sorted from the beginning. */
const MOST_MOVED = 500;

/** A column in which nothing changed keeps its identity. */
export function placed(tasks: TaskMap, before?: Placed): Placed {
  if (before?.tasks === tasks) return before;
  const changed = before && changesBetween(before.tasks, tasks);
  if (before === undefined || changed === undefined) return { tasks, columns: allInColumns(tasks) };
  const touched = new Set<Column>();
  for (const task of changed.values()) {
    touched.add(columnOf(task));
    const old = before.tasks.get(task.id);
    if (old) touched.add(columnOf(old));
  }
  const next: Record<Column, readonly TaskSummary[]> = { ...before.columns };
  for (const column of touched) {
    const kept = before.columns[column].filter(({ id }) => !changed.has(id));
    for (const task of changed.values()) if (columnOf(task) === column) insert(kept, task, orders[column]);
    next[column] = kept;
  }
  return { tasks, columns: next };
}

/** Undefined: too many, or some were deleted. */
function changesBetween(before: TaskMap, tasks: TaskMap): ReadonlyMap<string, TaskSummary> | undefined {
  const changed = new Map<string, TaskSummary>();
  let added = 0;
  for (const [id, task] of tasks) {
    const old = before.get(id);
    if (old === task) continue;
    if (old === undefined) added += 1;
    changed.set(id, task);
    if (changed.size > MOST_MOVED) return undefined;
  }
  return before.size + added === tasks.size ? changed : undefined;
}

export function allInColumns(tasks: TaskMap): TasksInColumns {
  const found: Record<Column, TaskSummary[]> = { needs: [], ready: [], working: [], landing: [], done: [] };
  for (const task of tasks.values()) found[columnOf(task)].push(task);
  for (const column of columns) found[column].sort(orders[column]);
  return found;
}

type Order = (a: TaskSummary, b: TaskSummary) => number;

/** Open columns have the most urgent first, the last one the latest. */
const orders: Readonly<Record<Column, Order>> = {
  needs: compareUrgency,
  ready: compareUrgency,
  working: compareUrgency,
  landing: compareUrgency,
  done: (a, b) => b.state.since - a.state.since || compareUrgency(a, b),
};

function insert(list: TaskSummary[], task: TaskSummary, order: Order): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && order(other, task) < 0) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, task);
}
