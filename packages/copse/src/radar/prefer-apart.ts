/** The order in which the scheduler takes ready tasks, with the radar's results. */

import { Collisions, apartFirst } from './rules/apart-first.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import type { LookContext } from '../queue/context.ts';

type Facts = Pick<LookContext, 'clock' | 'policy' | 'radar'>;

/** Ready tasks, the most urgent first. The radar's file is read only if a task is asked for. */
export function preferApart(
  { clock, policy, radar }: Facts,
  ready: readonly TaskSummary[],
): Iterable<TaskSummary> {
  let known: Collisions | undefined;
  const collides = (task: TaskSummary) => (known ??= loadCollisions({ radar })).with(task) !== undefined;
  return apartFirst(ready, collides, clock.now(), policy.radar);
}

export function loadCollisions({ radar }: Pick<Facts, 'radar'>): Collisions {
  const { branches, pairs } = radar.memory.load() ?? { branches: [], pairs: [] };
  return new Collisions(branches, pairs);
}
