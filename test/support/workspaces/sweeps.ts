/** Tasks for sweeps, and what a sweep said, in short. */

import { change } from '../../../packages/copse/src/board/context.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { decideCancel } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import type { SweepPlan } from '../../../packages/copse/src/workspaces/rules/sweep/plan.ts';
import type { Swept } from '../../../packages/copse/src/workspaces/sweep/sweep.ts';
import { must } from '../records/tasks.ts';
import type { Project } from './workspaces.ts';

export { DAY, sweeperOf } from './sweeper.ts';

export async function cancel(project: Project, task: TaskId): Promise<void> {
  must(
    await change(project.context, async (change) => {
      const record = await change.require('task', task);
      await change.apply(decideCancel(record, undefined, null, change.at));
    }),
  );
}

/** `worktree cp-a1b2 goes`, with the task in the place of its id where there is one. */
export function planned({ items }: SweepPlan): readonly string[] {
  return items
    .map(({ found, task, name, verdict }) => `${found.kind} ${task ?? name} ${verdict.kind}`)
    .toSorted();
}

export function fatesOf(done: Swept | undefined): readonly string[] {
  if (done === undefined) return ['busy'];
  return done.swept
    .map(({ item, fate }) => `${item.found.kind} ${item.task ?? item.name} ${fate.kind}`)
    .toSorted();
}
