/** Opens the board of the current repository, and closes it when the command ends. */

import type { Context } from '../board/context.ts';
import { type OpenContextOptions, openContext } from '../compose/open.ts';
import { type PlanId, type TaskId, resolvePrefix } from '../kernel/ids.ts';
import type { Board } from '../board/port.ts';
import { fail } from './failure.ts';
import type { Cli } from './invocation.ts';

export async function withBoard<T>(
  cli: Cli,
  work: (context: Context) => Promise<T>,
  options?: OpenContextOptions,
): Promise<T> {
  const context = await openContext(cli, undefined, options);
  try {
    return await work(context);
  } finally {
    await context.board.close();
  }
}

const NAMED = 5;

export async function requireTaskId(board: Board, text: string): Promise<TaskId> {
  const beginning = text.toLowerCase().startsWith('cp-') ? text.toLowerCase() : `cp-${text.toLowerCase()}`;
  const ids = (await board.idsStartingWith('task', beginning, NAMED + 1)) as readonly TaskId[];
  const resolved = resolvePrefix(text, ids);
  if (resolved.kind === 'found') return resolved.id;
  if (resolved.kind === 'ambiguous') return failAmbiguous(text, 'task', resolved.ids);
  return fail('not_found', `The board has no task ${JSON.stringify(text)}.`, 'copse list');
}

export async function requireTaskIds(board: Board, texts: readonly string[]): Promise<readonly TaskId[]> {
  const ids: TaskId[] = [];
  for (const text of texts) ids.push(await requireTaskId(board, text));
  return ids;
}

export async function requirePlanId(board: Board, text: string): Promise<PlanId> {
  const beginning = text.toLowerCase().startsWith('pl-') ? text.toLowerCase() : `pl-${text.toLowerCase()}`;
  const ids = (await board.idsStartingWith('plan', beginning, NAMED + 1)) as readonly PlanId[];
  const [first, ...others] = ids;
  if (first === undefined) {
    return fail('not_found', `The board has no plan ${JSON.stringify(text)}.`, 'copse plan list');
  }
  if (others.length === 0 || first === beginning) return first;
  return failAmbiguous(text, 'plan', ids);
}

function failAmbiguous(text: string, what: string, ids: readonly string[]): never {
  const more = ids.length > NAMED ? ', …' : '';
  return fail(
    'invalid',
    `${JSON.stringify(text)} matches more than one ${what}: ${ids.slice(0, NAMED).join(', ')}${more}.`,
    'give one more character of the id',
  );
}
