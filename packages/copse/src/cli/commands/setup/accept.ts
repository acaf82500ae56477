/** `copse config accept`: shows every change of the files that decide what Copse runs, asks, and accepts exactly what it showed. */

import { type Pending, accept } from '../../../compose/accepted.ts';
import type { Repository } from '../../../compose/open.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { named, shown } from '../../../kernel/text.ts';
import { canAsk, confirm } from '../../ask.ts';
import { fail } from '../../../operations/failure.ts';
import { acceptShown, refuseProblems, view } from '../../../operations/setup/config-accept.ts';
import type { PendingSettings } from '../../../operations/access.ts';
import type { Cli } from '../../invocation.ts';
import { isOrchestrated } from '../../after/ahead.ts';
import { printSteps } from '../../after/next-steps.ts';
import { diffLines } from '../../screen/line-diff.ts';

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
}

export async function acceptPending(cli: Cli, options: Options): Promise<void> {
  await withAccess(cli, async (access) => {
    const pending = await access.here.pendingSettings();
    refuseProblems(pending);
    if (!options.json) showChanges(cli, pending);
    if (pending.changes.length > 0 && !(await isAgreed(cli, options, pending))) return;
    const names = await acceptShown(access, pending);
    if (options.json) return cli.output.json(view(names));
    await tellAccepted(cli, names, pending);
  });
}

async function tellAccepted(
  cli: Cli,
  names: readonly string[],
  pending: Pick<PendingSettings, 'hasFiles'>,
): Promise<void> {
  const { output } = cli;
  if (names.length === 0) return output.line(unchangedText(pending));
  output.line(`Accepted ${shown(named(names))}.`);
  if (!names.includes('copse.yml') || !(await isOrchestrated(cli))) return;
  output.line('The running orchestrator keeps the settings that it started with, and so do its agents.');
  printSteps(output, ['copse orchestrate # after Ctrl+C in its terminal']);
}

/** `hasFiles`: there is a file that decides what Copse runs. */
export function unchangedText({ hasFiles }: Pick<PendingSettings, 'hasFiles'>): string {
  return hasFiles ? 'Nothing changed since you accepted it.' : 'There is no copse.yml: nothing to accept.';
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

async function isAgreed(cli: Cli, options: Options, { changes }: Pick<Pending, 'changes'>): Promise<boolean> {
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
