import type { TaskId } from '../../kernel/ids.ts';

/**
 * The cycle that would appear if `from` also depended on `newDependencies`, or undefined. `edges` maps a task to its
 * dependencies. Breadth first, so that the result is a shortest cycle; existing cycles without `from` are ignored.
 */
export function findCycle(
  edges: ReadonlyMap<TaskId, readonly TaskId[]>,
  from: TaskId,
  newDependencies: readonly TaskId[],
): readonly TaskId[] | undefined {
  const reachedFrom = new Map<TaskId, TaskId>();
  const queue: TaskId[] = [];
  const reach = (task: TaskId, dependent: TaskId): void => {
    if (reachedFrom.has(task)) return;
    reachedFrom.set(task, dependent);
    queue.push(task);
  };

  for (const dependency of newDependencies) reach(dependency, from);
  for (const task of queue) {
    if (task === from) return walkBack(reachedFrom, from);
    for (const dependency of edges.get(task) ?? []) reach(dependency, task);
  }
  return undefined;
}

/** `cp-a → cp-b → cp-a`: each depends on the one after it. */
export function describeCycle(cycle: readonly TaskId[]): string {
  return cycle.join(' → ');
}

function walkBack(reachedFrom: ReadonlyMap<TaskId, TaskId>, from: TaskId): readonly TaskId[] {
  const cycle = [from];
  let task = reachedFrom.get(from);
  while (task !== undefined && task !== from) {
    cycle.push(task);
    task = reachedFrom.get(task);
  }
  cycle.push(from);
  return cycle.toReversed();
}
