/** Opens the board of the current repository, and closes it when the command ends. */

import type { Context } from '../board/context.ts';
import { type OpenContextOptions, openContext } from '../compose/open.ts';
import {
  type PlanId,
  type TaskId,
  copied,
  isTaskIdPrefix,
  planIdBeginning,
  resolvePrefix,
  taskIdBeginning,
} from '../kernel/ids.ts';
import type { Board } from '../board/port.ts';
import { fail } from '../operations/failure.ts';
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
  if (!isTaskIdPrefix(text)) return failNoTask(text);
  const ids = (await board.idsStartingWith('task', taskIdBeginning(text), NAMED + 1)) as readonly TaskId[];
  const resolved = resolvePrefix(text, ids);
  if (resolved.kind === 'found') return resolved.id;
  if (resolved.kind === 'ambiguous') return failAmbiguous(text, 'task', resolved.ids);
  return failNoTask(text);
}

function failNoTask(text: string): never {
  if (/^pl-\w+$/i.test(copied(text)))
    fail('not_found', `${quoted(text)} is a plan, not a task.`, `copse plan show ${copied(text)}`);
  if (text.trim() === '') fail('invalid', 'The id of the task is empty.', 'copse list');
  return fail('not_found', `The board has no task ${quoted(text)}.`, 'copse list');
}

/** Huge texts are cut. */
function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text);
}

const QUOTED = 60;

export async function requireTaskIds(board: Board, texts: readonly string[]): Promise<readonly TaskId[]> {
  const ids: TaskId[] = [];
  for (const text of texts) ids.push(await requireTaskId(board, text));
  return ids;
}

export async function requirePlanId(board: Board, text: string): Promise<PlanId> {
  const beginning = planIdBeginning(text);
  if (copied(text) === '') return fail('invalid', 'The id of the plan is empty.', 'copse plan list');
  const ids = (await board.idsStartingWith('plan', beginning, NAMED + 1)) as readonly PlanId[];
  const [first, ...others] = ids;
  if (first === undefined) {
    return fail('not_found', `The board has no plan ${quoted(text)}.`, 'copse plan list');
  }
  if (others.length === 0 || first === beginning) return first;
  return failAmbiguous(text, 'plan', ids);
}

function failAmbiguous(text: string, what: string, ids: readonly string[]): never {
  const more = ids.length > NAMED ? ', …' : '';
  return fail(
    'invalid',
    `${quoted(text)} matches more than one ${what}: ${ids.slice(0, NAMED).join(', ')}${more}.`,
    'give one more character of the id',
  );
}
