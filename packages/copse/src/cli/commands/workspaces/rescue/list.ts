import type { WorkspaceContext } from '../../../../workspaces/act/context.ts';
import type { TaskId, Timestamp } from '../../../../kernel/ids.ts';
import { shown } from '../../../../kernel/text.ts';
import type { KeptTip, Rescue } from '../../../../git/port.ts';
import { keptTipView, rescueView } from '../../../../operations/views/workspace-views.ts';
import type { Cli, Invocation } from '../../../invocation.ts';
import { age } from '../../../../explain/rules/amounts.ts';
import { refuseElsewhere, requireTaskIdAmong, withWorkspaces } from '../../../with-workspaces.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word] = words;
  await withWorkspaces(cli, async (context) => {
    const [rescues, tips] = await Promise.all([context.rescues.list(), context.rescues.kept()]);
    const kept = await withoutLanded(context, tips);
    const known = [...rescues, ...kept].map(({ task }) => task);
    const task = word === undefined ? undefined : await requireTaskIdAmong(context, word, known);
    await refuseElsewhere(context, task);
    const found = { rescues: newestFirst(rescues, task), kept: newestFirst(kept, task) };
    if (options.json) {
      cli.output.json({ rescues: found.rescues.map(rescueView), kept: found.kept.map(keptTipView) });
      return;
    }
    print(cli, found, context.clock.now());
  });
}

/** Without tips whose work has landed: that is on the target. */
async function withoutLanded(
  { board }: WorkspaceContext,
  tips: readonly KeptTip[],
): Promise<readonly KeptTip[]> {
  const left: KeptTip[] = [];
  for (const tip of tips) {
    const landings = await board.list('landing', { task: tip.task });
    if (!landings.some(({ head, state }) => head === tip.commit && state.status === 'landed')) left.push(tip);
  }
  return left;
}

interface Saved {
  readonly task: TaskId;
  readonly at: Timestamp;
}

function newestFirst<T extends Saved>(all: readonly T[], task: TaskId | undefined): readonly T[] {
  return all
    .filter((one) => task === undefined || one.task === task)
    .toSorted((one, other) => other.at - one.at);
}

function print(
  { output }: Cli,
  { rescues, kept }: { readonly rescues: readonly Rescue[]; readonly kept: readonly KeptTip[] },
  now: Timestamp,
): void {
  for (const { ref, task, why, at, branch, changed } of rescues) {
    const where = branch === null ? 'no branch' : shown(branch);
    output.line(`${task} (${age(at, now)}) ${why}: ${changed} changed, on ${where}`);
    output.line(output.style('dim', `      ${shown(ref)}`));
  }
  if (kept.length > 0) {
    if (rescues.length > 0) output.line();
    output.line('Commits that are no longer on a branch:');
  }
  for (const { ref, task, at, subject, commit } of kept) {
    output.line(`${task} (${age(at, now)}) ${shown(subject)}`);
    output.line(output.style('dim', `      ${shown(ref)}`));
    output.line(output.style('dim', `      To put them on a branch: git branch <name> ${commit}`));
  }
  if (rescues.length + kept.length === 0) output.line('No rescues.');
}
