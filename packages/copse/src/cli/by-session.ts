/**
 * The commands that an agent's session may run: reading, adding tasks, and reporting about its own task. This prevents
 * mistakes of agents; it does not stop an agent that hides its session.
 */

import path from 'node:path';

import { sessionFrom, taskFrom } from '../board/rules/author.ts';
import { resolvePrefix } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import { fail } from '../operations/failure.ts';
import { OWN_TASK_ONLY } from '../operations/callers.ts';
import { operations } from '../operations/registry.ts';
import type { Cli } from './invocation.ts';
import { otherCommands } from './program/other-commands.ts';

/** Every other command is for people only, new commands included. */
function isForSessions(command: string): boolean {
  return (
    operations.some((one) => one.command === command && one.callers.includes('session')) ||
    otherCommands[command]?.isForSessions === true
  );
}

export function refuseSessions(cli: Cli, command: string, words: readonly string[]): void {
  const author = sessionFrom(cli.env);
  if (author === undefined) return;
  const [word] = words;
  const isForPeople =
    !isForSessions(command) ||
    (command === 'config' && word?.startsWith('accept') === true) ||
    // It may print the board, and write no file.
    (command === 'export' && word !== undefined && word !== '-') ||
    (OWN_TASK_ONLY.has(command) && !isAboutOwnTask(cli, word));
  if (!isForPeople) return;
  const what = OWN_TASK_ONLY.has(command) ? `copse ${command} ${word ?? 'here'}` : `copse ${command}`;
  fail(
    'not_this_session',
    `Session ${shown(author.session)} may not run ${shown(what)}: agents may only read, add tasks and report about their own task.`,
    'copse stuck --reason "…" # to ask a person to do it',
    'copse finish',
  );
}

/** Without an id, the task is that of the current worktree, which may belong to another session. */
function isAboutOwnTask(cli: Cli, word: string | undefined): boolean {
  const own = taskFrom(cli.env);
  if (word !== undefined) return own !== undefined && resolvePrefix(word, [own]).kind === 'found';
  const worktree = cli.env['COPSE_WORKTREE_PATH'];
  if (!worktree) return true;
  const relative = path.relative(worktree, cli.cwd);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
