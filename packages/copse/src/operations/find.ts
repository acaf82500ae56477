/** Which task, plan or artifact a caller means: by its id, or by the unique beginning of it. */

import type { Board } from '../board/port.ts';
import {
  type ArtifactId,
  type PlanId,
  type TaskId,
  brand,
  copied,
  isTaskIdPrefix,
  planIdBeginning,
  resolvePrefix,
  taskIdBeginning,
} from '../kernel/ids.ts';
import type { Artifact } from '../tasks/rules/ledger.ts';
import { fail } from './failure.ts';

const NAMED = 5;

export async function requireTaskId(board: Board, text: string): Promise<TaskId> {
  if (!isTaskIdPrefix(text)) return failNoTask(text);
  const ids = (await board.idsStartingWith('task', taskIdBeginning(text), NAMED + 1)) as readonly TaskId[];
  const resolved = resolvePrefix(text, ids);
  if (resolved.kind === 'found') return resolved.id;
  if (resolved.kind === 'ambiguous') return failAmbiguous(text, 'task', resolved.ids);
  const { failIfDeleted } = await import('./deleted-task.ts');
  await failIfDeleted(board, brand<TaskId>(taskIdBeginning(text)));
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

export async function requireArtifact(board: Board, text: string): Promise<Artifact> {
  const found = await findArtifacts(board, text);
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined)
    return fail('not_found', `The board has no artifact ${quoted(text)}.`, 'copse artifact list --all');
  return failAmbiguous(
    text,
    'artifact',
    found.map(({ id }) => id),
  );
}

const ARTIFACT = 'ar-';

/** Those whose ids begin so; a whole id is only its own. */
export async function findArtifacts(board: Board, text: string): Promise<readonly Artifact[]> {
  const word = copied(text).toLowerCase();
  if (!/^[a-z0-9-]+$/.test(word)) return [];
  const beginning = word.startsWith(ARTIFACT) ? word : ARTIFACT + word;
  const ids = (await board.idsStartingWith('artifact', beginning, NAMED + 1)) as readonly ArtifactId[];
  const meant = ids.includes(beginning as ArtifactId) ? [beginning as ArtifactId] : ids;
  const found = await board.some('artifact', meant);
  return meant.flatMap((id) => found.get(id) ?? []);
}

function failAmbiguous(text: string, what: string, ids: readonly string[]): never {
  const more = ids.length > NAMED ? ', …' : '';
  return fail(
    'invalid',
    `${quoted(text)} matches more than one ${what}: ${ids.slice(0, NAMED).join(', ')}${more}.`,
    'Give one more character of the id.',
  );
}
