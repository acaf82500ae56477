import type { TaskId, Timestamp } from '../../kernel/ids.ts';

/** 5 is the most urgent. */
export type Priority = 1 | 2 | 3 | 4 | 5;

/** Reads `p5`, `P5` or `5`. */
export function parsePriority(text: string): Priority | undefined {
  const digit = /^[pP]?([1-5])$/.exec(text.trim())?.[1];
  return digit === undefined ? undefined : (Number(digit) as Priority);
}

export function formatPriority(priority: Priority): `p${Priority}` {
  return `p${priority}`;
}

export interface Urgency {
  readonly priority: Priority;
  readonly createdAt: Timestamp;
  readonly id: TaskId;
}

/** Sorts the most urgent first, then the oldest; the id makes the order the same on every machine. */
export function compareUrgency(a: Urgency, b: Urgency): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
