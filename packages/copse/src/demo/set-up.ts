/** Adds the plan and the tasks of the demo to its board, like `copse plan add` and `copse add`. */

import { type Context, type Outcome } from '../board/context.ts';
import { addPlan } from '../tasks/act/plans.ts';
import { addTask } from '../tasks/act/tasks.ts';
import type { TaskId } from '../kernel/ids.ts';
import { plan, tasks } from './scenario.ts';

/** In the order of the scenario. */
export async function addTasks(context: Context): Promise<readonly TaskId[]> {
  const { id: planId } = must(await addPlan(context, plan));
  const ids = new Map<string, TaskId>();
  for (const { key, after, ...definition } of tasks) {
    const dependsOn = after.map(
      (one) => ids.get(one) ?? mistake(`${key} waits for ${one}, which comes later`),
    );
    const task = must(await addTask(context, { ...definition, plan: planId, dependsOn }));
    ids.set(key, task.id);
  }
  return [...ids.values()];
}

function must<T>(outcome: Outcome<T>): T {
  return outcome.kind === 'done' ? outcome.value : mistake(outcome.refusal.reason);
}

function mistake(what: string): never {
  throw new Error(`The demo's scenario is wrong: ${what}`);
}
