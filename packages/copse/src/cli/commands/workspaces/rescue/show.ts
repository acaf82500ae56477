import { withAccess } from '../../../../compose/operations/access.ts';
import { ignoredText } from '../../../../explain/changes.ts';
import { age } from '../../../../explain/rules/amounts.ts';
import { shown } from '../../../../kernel/text.ts';
import { type RescueDetails, act, view } from '../../../../operations/worktrees/rescues/show.ts';
import type { Invocation } from '../../../invocation.ts';
import type { Output } from '../../../output.ts';
import { fields } from '../../../screen/render.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const found = await withAccess(cli, (access) => act(access, { rescue: words[0] ?? '' }));
  if (options.json) cli.output.json(view(found));
  else print(cli.output, found);
}

function print(output: Output, { rescue, changes, ignored, trashedUntil, at: now }: RescueDetails): void {
  const { ref, task, why, at, branch, head, commit } = rescue;
  output.line(shown(ref));
  const rows = fields([
    ['task', task],
    ['why', `${why}, ${age(at, now)} ago`],
    ['branch', branch && shown(branch)],
    ['head', head],
    ['commit', commit],
  ]);
  for (const row of rows) output.line(`    ${row}`);
  if (changes.length > 0) output.line();
  for (const { path, change } of changes) output.line(`    ${change.padEnd(8)}  ${shown(path)}`);
  output.line();
  const left = ignoredText(ignored);
  if (trashedUntil !== null && left !== undefined) {
    const day = new Date(trashedUntil).toISOString().slice(0, 10);
    output.line(`Ignored by git, so only in the trash, until ${day} at least: ${left}`);
    output.line(`To bring back the removed worktree with them: copse undo ${task} --worktree`);
  }
  output.line(`To put it back into its worktree: copse rescue restore ${shortName(ref)}`);
  output.line(`To see every line: git show ${commit}`);
}

/** Task and time, which no two rescues share. */
function shortName(ref: string): string {
  return shown(ref.split('/').slice(-2).join('/'));
}
