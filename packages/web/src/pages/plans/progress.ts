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
  const longest = new Map<string, readonly string[]>();
  /** A cycle, which a board refuses, ends where it closes. */
  const chainTo = (id: string, above: ReadonlySet<string>): readonly string[] => {
    const known = longest.get(id);
    if (known !== undefined) return known;
    const within = new Set([...above, id]);
    let before: readonly string[] = [];
    for (const dependency of open.get(id)?.dependsOn ?? []) {
      if (!open.has(dependency) || within.has(dependency)) continue;
      const chain = chainTo(dependency, within);
      if (chain.length > before.length) before = chain;
    }
    const chain = [...before, id];
    longest.set(id, chain);
    return chain;
  };
  let path: readonly string[] = [];
  for (const id of open.keys()) {
    const chain = chainTo(id, new Set());
    if (chain.length > path.length) path = chain;
  }
  return path.length > 1 ? path : [];
}
