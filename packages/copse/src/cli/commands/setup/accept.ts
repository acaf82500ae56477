/** `copse config accept`: shows every change of the files that decide what Copse runs, asks, and accepts exactly what it showed. */

import { type Pending, type PendingChange, accept, loadPending } from '../../../compose/accepted.ts';
import { type Repository, requireRepository } from '../../../compose/open.ts';
import { named, shown } from '../../../kernel/text.ts';
import { canAsk, confirm } from '../../ask.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
import { isOrchestrated } from '../../after/ahead.ts';
import { diffLines } from '../../screen/line-diff.ts';

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
}

export async function acceptPending(cli: Cli, options: Options): Promise<void> {
  const repository = requireRepository(cli);
  const pending = await loadPending(repository);
  const { changes, isFirst } = pending;
  const names = changes.map(({ name }) => name);
  refuseProblems(changes);
  if (!options.json) showChanges(cli, pending);
  if (changes.length > 0 && !(await isAgreed(cli, options, pending))) return;
  if (changes.length > 0 || isFirst) await accept(repository, pending);
  if (options.json) cli.output.json({ accepted: names });
  else if (names.length === 0) cli.output.line('Nothing changed since you accepted it.');
  else {
    cli.output.line(`Accepted ${shown(named(names))}.`);
    if (names.includes('copse.yml') && (await isOrchestrated(cli))) {
      cli.output.line(
        'The running orchestrator keeps the settings that it started with, and so do its agents.',
      );
      cli.output.line(cli.output.style('dim', '  → Ctrl+C in its terminal, then: copse orchestrate'));
    }
  }
}

/** At a terminal, before a command that uses what changed. */
export async function offer(cli: Cli, repository: Repository, pending: Pending): Promise<void> {
  showChanges(cli, pending);
  if (await isAgreed(cli, {}, pending)) await accept(repository, pending);
}

/** Also for the question of `copse init`. */
export function showChanges({ output }: Cli, { changes }: Pick<Pending, 'changes'>): void {
  for (const { name, decides, before, now } of changes) {
    const how = before === null ? 'new' : now === null ? 'removed' : 'changed';
    output.line(`${output.style('bold', shown(name))} (${decides}): ${how}`);
    for (const { mark, text } of diffLines(before ?? '', now ?? '')) {
      const line = `  ${mark} ${shown(text)}`;
      output.line(
        mark === '+' ? output.style('green', line) : mark === '-' ? output.style('red', line) : line,
      );
    }
    output.line();
  }
}

function refuseProblems(changes: readonly PendingChange[]): void {
  for (const { name, problem } of changes)
    if (problem !== null)
      fail('invalid', `${name} cannot be accepted: ${problem}`, 'correct it, then: copse config accept');
}

async function isAgreed(cli: Cli, options: Options, { changes }: Pending): Promise<boolean> {
  if (options.yes) return true;
  const names = named(changes.map(({ name }) => name));
  if (!canAsk(cli, options))
    return fail(
      'wrong_status',
      `Not accepted: a person has to agree to the change of ${names}.`,
      'copse config accept --yes',
    );
  if (await confirm(`Use ${names} as shown?`)) return true;
  cli.output.line('Not accepted; Copse still uses the earlier version.');
  return false;
}
