/** A refusal because of a task's status was decided from the status alone. What works instead, `copse why` knows better. */

import { sessionFrom } from '../board/rules/author.ts';
import { nextSteps } from '../explain/next-steps.ts';
import { type TaskId, brand } from '../kernel/ids.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import type { Access } from './access.ts';
import type { Failure } from './failure.ts';

/** Agents keep the commands of the refusal: most of those for people are refused to them. */
export async function withNextSteps(
  access: Pick<Access, 'env' | 'look'>,
  failure: Failure,
): Promise<Failure> {
  if (failure.task === undefined || sessionFrom(access.env) !== undefined) return failure;
  const id = brand<TaskId>(failure.task);
  try {
    return await access.look(async (context) => {
      const task = await context.board.get('task', id);
      return task === undefined ? failure : { ...failure, next: await nextSteps(context, task) };
    });
  } catch (error) {
    if (error instanceof Unavailable) return failure;
    throw error;
  }
}
