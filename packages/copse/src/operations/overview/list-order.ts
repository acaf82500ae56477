/**
 * The order of a list, and a place in it. A cursor names the last task of a page by what the order compares, not by a number, so
 * tasks that are added or deleted meanwhile neither repeat nor hide another one.
 */

import { type TaskStatus, type TaskSummary, isFinished } from '../../tasks/rules/task.ts';
import { fail } from '../failure.ts';

/** What the orders compare of a task. */
interface ListPlace {
  readonly isFinished: boolean;
  readonly since: number;
  readonly priority: number;
  readonly rank: number;
  readonly title: string;
  readonly updatedAt: number;
  readonly createdAt: number;
  readonly id: string;
}

/** Running tasks first, then tasks that need a person, then waiting ones. */
const ranks: Readonly<Record<TaskStatus, number>> = {
  in_progress: 1,
  landing: 2,
  stuck: 3,
  needs_attention: 4,
  failed: 5,
  in_review: 6,
  paused: 7,
  ready: 8,
  pending: 9,
  done: 10,
  cancelled: 10,
};

const sorts = {
  age: (a, b) => a.since - b.since,
  priority: (a, b) => b.priority - a.priority,
  status: (a, b) => a.rank - b.rank,
  title: (a, b) => compared(a.title, b.title),
  updated: (a, b) => b.updatedAt - a.updatedAt,
} as const satisfies Readonly<Record<string, (a: ListPlace, b: ListPlace) => number>>;

export type TaskOrder = keyof typeof sorts;

export const taskOrders = Object.keys(sorts) as readonly TaskOrder[];

/** Live tasks first. Of equal ones: live, the most urgent and oldest first; finished, the latest change first. */
function orderedBy(sort: TaskOrder): (a: ListPlace, b: ListPlace) => number {
  return (a, b) => {
    const parts = Number(a.isFinished) - Number(b.isFinished);
    if (parts !== 0) return parts;
    const bySort = sorts[sort](a, b);
    if (bySort !== 0) return bySort;
    return a.isFinished
      ? b.updatedAt - a.updatedAt || compared(a.id, b.id)
      : b.priority - a.priority || a.createdAt - b.createdAt || compared(a.id, b.id);
  };
}

export function sorted(tasks: readonly TaskSummary[], sort: TaskOrder): readonly TaskSummary[] {
  const order = orderedBy(sort);
  return tasks
    .map((task) => ({ task, place: placeOf(task) }))
    .toSorted((a, b) => order(a.place, b.place))
    .map(({ task }) => task);
}

function placeOf({ id, state, priority, title, updatedAt, createdAt }: TaskSummary): ListPlace {
  const { status, since } = state;
  const finished = isFinished(status);
  return {
    isFinished: finished,
    since,
    priority,
    rank: ranks[status],
    title: title.toLowerCase(),
    updatedAt,
    createdAt,
    id,
  };
}

/** Whether a task comes after the last one of a page. */
export function isAfter(cursor: ListPlace, sort: TaskOrder): (task: TaskSummary) => boolean {
  const order = orderedBy(sort);
  return (task) => order(cursor, placeOf(task)) < 0;
}

export function cursorText(task: TaskSummary, sort: TaskOrder): string {
  const { isFinished: finished, since, priority, rank, title, updatedAt, createdAt, id } = placeOf(task);
  const values = [sort, Number(finished), since, priority, rank, title, updatedAt, createdAt, id];
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

export function requireCursor(text: string, sort: TaskOrder): ListPlace {
  const [of, finished, since, priority, rank, title, updatedAt, createdAt, id] = valuesIn(text);
  const numbers = [finished, since, priority, rank, updatedAt, createdAt];
  const isWhole = numbers.every((one) => typeof one === 'number') && typeof title === 'string';
  if (of !== sort || !isWhole || typeof id !== 'string')
    fail('invalid', 'The cursor is not one of this list.', 'copse list --json');
  const [, atSince = 0, atPriority = 0, atRank = 0, changed = 0, added = 0] = numbers as readonly number[];
  return {
    isFinished: finished === 1,
    since: atSince,
    priority: atPriority,
    rank: atRank,
    title,
    updatedAt: changed,
    createdAt: added,
    id,
  };
}

function valuesIn(text: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(values) ? values : [];
  } catch {
    return [];
  }
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
