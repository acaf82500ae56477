/** Who may call an operation. An agent's session may read, add tasks and report about its own task, on every surface. */

import { isPerson, sessionFrom, taskFrom } from '../board/rules/author.ts';
import { resolvePrefix } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import type { Access } from './access.ts';
import { fail } from './failure.ts';
import type { Operation } from './operation.ts';

/** Commands that change or show files and output of one task, which an agent in a sandbox cannot read otherwise. */
export const OWN_TASK_ONLY: ReadonlySet<string> = new Set(['diff', 'logs', 'sync']);

/** A session is known by the variables that Copse gives to an agent's processes. */
export function refuseSession(
  { name, command, callers, effect }: Operation,
  env: Access['env'],
  input: unknown,
): void {
  if (isPerson(env)) return;
  // Without its token, a process of a session would change the board as the person.
  const isKnown = sessionFrom(env) !== undefined;
  const isAllowed =
    callers.includes('session') &&
    (isKnown || effect === 'reads') &&
    (!OWN_TASK_ONLY.has(command) || isAboutOwnTask(env, input));
  if (isAllowed) return;
  const who = `Session ${shown(env['COPSE_SESSION_ID'] ?? 'of this process')}${isKnown ? '' : ' without its token'}`;
  fail(
    'not_this_session',
    `${who} may not call ${name}: agents may only read, add tasks and report about their own task.`,
    'copse stuck --reason "…" # to ask a person to do it',
  );
}

/** Only a task that it names: without one, the folder of the caller would say which. */
function isAboutOwnTask(env: Access['env'], input: unknown): boolean {
  const own = taskFrom(env);
  const task = typeof input === 'object' && input !== null && 'task' in input ? input.task : own;
  return own !== undefined && typeof task === 'string' && resolvePrefix(task, [own]).kind === 'found';
}
