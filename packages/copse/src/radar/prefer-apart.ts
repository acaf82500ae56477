/** The scheduler's use of what the conflict radar found. */

import { Collisions, apartFirst } from './rules/apart-first.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import type { LookContext } from '../queue/context.ts';

type Facts = Pick<LookContext, 'clock' | 'policy' | 'radar'>;

/** Ready tasks, the most urgent first; what the radar knows is read when the first of them is asked about. */
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
