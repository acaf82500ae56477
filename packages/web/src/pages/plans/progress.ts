/** How far plans are, and the longest chain of tasks that still lies ahead. Pure. */

import { type TaskStatus, type TaskSummary, isFinished } from '../../../../copse/src/tasks/rules/task.ts';

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Cancelled tasks do not count. */
export function progressByPlan(tasks: Iterable<TaskSummary>): ReadonlyMap<string, Progress> {
  const found = new Map<string, Progress>();
  for (const { plan, state } of tasks) {
    if (plan === null || state.status === 'cancelled') continue;
    const { done, total } = found.get(plan) ?? { done: 0, total: 0 };
    found.set(plan, { done: done + (state.status === 'done' ? 1 : 0), total: total + 1 });
  }
  return found;
}

export interface GraphTask {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly dependsOn: readonly string[];
}

/** The longest chain of open tasks of which each waits for the one before it; empty if there is no such pair. */
export function criticalPath(tasks: readonly GraphTask[]): readonly string[] {
  const open = new Map(tasks.filter(({ status }) => !isFinished(status)).map((task) => [task.id, task]));
  const lengths = chainLengths(open);
  let last: string | undefined;
  for (const id of open.keys()) if ((lengths.get(id) ?? 0) > (lengths.get(last ?? '') ?? 0)) last = id;
  const path: string[] = [];
  for (let id = last; id !== undefined;) {
    path.push(id);
    const length: number = (lengths.get(id) ?? 0) - 1;
    id = length === 0 ? undefined : open.get(id)?.dependsOn.find((one) => lengths.get(one) === length);
  }
  return path.length > 1 ? path.toReversed() : [];
}

/** How long the longest chain is that ends with a task. A cycle, which a board refuses, has no length. */
function chainLengths(open: ReadonlyMap<string, GraphTask>): ReadonlyMap<string, number> {
  const waiting = new Map<string, number>();
  const dependants = new Map<string, string[]>();
  for (const { id, dependsOn } of open.values()) {
    const before = dependsOn.filter((one) => open.has(one));
    waiting.set(id, before.length);
    for (const one of before) listed(dependants, one).push(id);
  }
  const lengths = new Map<string, number>();
  const found = [...open.keys()].filter((id) => waiting.get(id) === 0);
  // Without recursion: a chain may have thousands of tasks.
  for (const id of found) {
    const before = open.get(id)?.dependsOn.map((one) => lengths.get(one) ?? 0) ?? [];
    lengths.set(id, 1 + Math.max(0, ...before));
    for (const next of dependants.get(id) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) found.push(next);
    }
  }
  return lengths;
}

function listed(lists: Map<string, string[]>, key: string): string[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
