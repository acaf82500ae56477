import { withAccess } from '../../../../compose/operations/access.ts';
import { age } from '../../../../explain/rules/amounts.ts';
import { shown } from '../../../../kernel/text.ts';
import { type ListedRescues, act, view } from '../../../../operations/worktrees/rescues/list.ts';
import type { Cli, Invocation } from '../../../invocation.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const listed = await withAccess(cli, (access) => act(access, { task: words[0] }));
  if (options.json) cli.output.json(view(listed));
  else print(cli, listed);
}

function print({ output }: Cli, { rescues, kept, at: now }: ListedRescues): void {
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
