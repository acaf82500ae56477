/**
 * Tells a person, before each command, that files which decide what Copse runs changed since they were accepted. The first
 * command in a repository accepts them as they are.
 */

import { type Pending, acceptFirst, loadPending } from '../compose/accepted.ts';
import { type Repository, findRepository } from '../compose/open.ts';
import { sessionFrom } from '../board/rules/author.ts';
import { PENDING_REMEDY, pendingText } from '../explain/rules/pending.ts';
import { named, shown } from '../kernel/text.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import { canAsk } from './ask.ts';
import type { Cli } from './invocation.ts';

/** They need no settings, or say themselves what is pending. */
const WITHOUT: ReadonlySet<string> = new Set([
  'init',
  'config',
  'doctor',
  'demo',
  'completion',
  'shell-init',
  'help',
  'hook',
  'tend',
]);

export async function noticeChanges(cli: Cli, command: string): Promise<void> {
  if (WITHOUT.has(command)) return;
  const repository = repositoryOfPerson(cli);
  if (repository === undefined) return;
  const pending = await loadPending(repository);
  if (!pending.isFirst) return tellOrAsk(cli, repository, pending, command);
  const accepted = await acceptFirst(repository, pending);
  if (accepted.length > 0 && cli.output.isTerminal)
    cli.output.note(
      shown(`First use here: Copse accepted ${named(accepted)}. After a change, run: copse config accept`),
    );
}

/** One line for a person; nothing for a session. */
export async function tellPending(cli: Cli): Promise<void> {
  const repository = repositoryOfPerson(cli);
  if (repository !== undefined) tell(cli, await loadPending(repository));
}

/** They use what the files decide. At a terminal, the question spares the person a second command. */
const ASKING: ReadonlySet<string> = new Set(['orchestrate', 'work']);

async function tellOrAsk(cli: Cli, repository: Repository, pending: Pending, command: string): Promise<void> {
  const canAccept = pending.changes.length > 0 && pending.changes.every(({ problem }) => problem === null);
  if (!canAccept || !ASKING.has(command) || !canAsk(cli, {})) return tell(cli, pending);
  const { offer } = await import('./commands/setup/accept.ts');
  await offer(cli, repository, pending);
}

function tell({ output }: Cli, pending: Pending): void {
  const text = pending.isFirst ? null : pendingText(pending);
  if (text === null) return;
  const isDeleted = pending.changes.every(({ name, now }) => name === 'copse.yml' && now === null);
  const label = isDeleted ? '\n    To use the defaults:' : '';
  output.note(shown(`${text}${label}\n  → ${PENDING_REMEDY}`));
}

function repositoryOfPerson({ cwd, env }: Cli): Repository | undefined {
  if (sessionFrom(env) !== undefined || env['COPSE_SANDBOX']) return undefined;
  try {
    return findRepository(cwd);
  } catch (error) {
    // The command says it.
    if (error instanceof Unavailable || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
