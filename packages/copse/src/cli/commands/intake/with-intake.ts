/** The board with the schedules and triggers of copse.yml, and the words that name one of them. */

import { configOf, nodeHere, requireRepository } from '../../../compose/open.ts';
import { intakeOf } from '../../../compose/run/intake.ts';
import { type IntakeContext, type KnownSchedule, loadSchedules } from '../../../intake/act/schedules.ts';
import type { Intake } from '../../../intake/ports/intake.ts';
import type { ScheduleDefinition } from '../../../intake/rules/schedule.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';

export async function withIntake<T>(
  cli: Cli,
  work: (context: IntakeContext, intake: Intake) => Promise<T>,
): Promise<T> {
  const repository = requireRepository(cli);
  const intake = await intakeOf(await configOf(repository), { isShown: true });
  return withBoard(cli, (context) => work({ ...context, node: nodeHere(repository) }, intake));
}

/** By its id, or by its name where no other agent has one of that name. */
export async function requireSchedule(
  context: IntakeContext,
  intake: Intake,
  word: string,
): Promise<KnownSchedule> {
  const all = await loadSchedules(context, intake);
  const wanted = word.trim();
  const found = all.filter(({ id }) => id === wanted || id.endsWith(`/${wanted}`));
  const [first, ...others] = found;
  if (first === undefined)
    return fail('not_found', `There is no schedule ${quoted(word)}.`, 'copse schedule list');
  if (others.length === 0) return first;
  const ids = found.map(({ id }) => id).join(', ');
  return fail('invalid', `${quoted(word)} matches more than one schedule: ${ids}.`, 'give its agent too');
}

export async function requireDefined(
  context: IntakeContext,
  intake: Intake,
  word: string,
): Promise<ScheduleDefinition> {
  const { id, definition } = await requireSchedule(context, intake, word);
  if (definition !== null) return definition;
  return fail(
    'wrong_status',
    `The copse.yml here does not have the schedule ${id}: another machine set it.`,
    `copse schedule show ${id}`,
  );
}

export function quoted(text: string): string {
  return JSON.stringify(shown(text.slice(0, 60)));
}
