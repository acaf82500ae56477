/** Which schedule, job or source a caller means. */

import type { Board } from '../../board/port.ts';
import { findJobs } from '../../intake/act/jobs.ts';
import { sourceNamed } from '../../intake/act/one-item.ts';
import { type IntakeContext, type KnownSchedule, loadSchedules } from '../../intake/act/schedules.ts';
import type { Source } from '../../intake/port.ts';
import type { Intake } from '../../intake/ports/intake.ts';
import type { ScheduleDefinition } from '../../intake/rules/schedule.ts';
import { copied } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import type { RunContext } from '../../queue/context.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { OperationFailed, fail } from '../failure.ts';

/** The board with the schedules and triggers of copse.yml. */
export async function withIntake<T>(
  access: Access,
  work: (context: IntakeContext, intake: Intake) => Promise<T>,
): Promise<T> {
  const { here } = access;
  const intake = await here.intake();
  return access.board((context) => work({ ...context, node: here.node() }, intake));
}

/** By its id, or by its name where no other agent has one of that name. */
export async function requireSchedule(
  context: IntakeContext,
  intake: Intake,
  text: string,
): Promise<KnownSchedule> {
  const all = await loadSchedules(context, intake);
  const wanted = text.trim();
  const found = all.filter(({ id }) => id === wanted || id.endsWith(`/${wanted}`));
  const [first, ...others] = found;
  if (first === undefined)
    return fail('not_found', `There is no schedule ${quoted(text)}.`, 'copse schedule list');
  if (others.length === 0) return first;
  const ids = found.map(({ id }) => id).join(', ');
  return fail('invalid', `${quoted(text)} matches more than one schedule: ${ids}.`, 'Give its agent too.');
}

export async function requireDefined(
  context: IntakeContext,
  intake: Intake,
  text: string,
): Promise<ScheduleDefinition> {
  const { id, definition } = await requireSchedule(context, intake, text);
  if (definition !== null) return definition;
  return fail(
    'wrong_status',
    `The copse.yml here does not have the schedule ${id}: another machine set it.`,
    `copse schedule show ${id}`,
  );
}

export function isJobId(text: string): boolean {
  return copied(text).toLowerCase().startsWith('jb-');
}

/** By its id or the unique beginning of it, with or without `jb-`. */
export async function requireJob(board: Board, given: string): Promise<TaskSummary> {
  const text = copied(given).toLowerCase();
  if (text === '' || text === 'jb-') return fail('invalid', 'The id of the job is empty.', 'copse jobs');
  const found = await findJobs(board, isJobId(text) ? text : `jb-${text}`);
  const [first, ...others] = found;
  if (first === undefined) return fail('not_found', `The board has no job ${quoted(given)}.`, 'copse jobs');
  if (others.length === 0) return first.task;
  const ids = found.slice(0, 5).map(({ id }) => id);
  return fail(
    'invalid',
    `${quoted(given)} matches more than one job: ${ids.join(', ')}.`,
    'Give one more character of the id.',
  );
}

export function requireSource(context: Pick<RunContext, 'sources'>, name: string): Source {
  const found = sourceNamed(context, name);
  if ('kind' in found) throw new OperationFailed(found.refusal);
  return found;
}

export function quoted(text: string): string {
  return JSON.stringify(shown(text.slice(0, 60)));
}
