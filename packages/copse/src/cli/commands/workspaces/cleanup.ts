import { withAccess } from '../../../compose/operations/access.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { type Cleaned, cleanUpAsking, view } from '../../../operations/worktrees/cleanup.ts';
import { canAsk, confirm } from '../../ask.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { removedLines } from './removed-text.ts';
import { tendLater } from './tend-later.ts';

interface Options {
  readonly force?: boolean;
  /** Answers the question that a person would be asked. */
  readonly yes?: boolean;
  readonly deleteBranch?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [task] = words;
  const { yes: unlanded, force, deleteBranch } = options;
  await withAccess(cli, async (access) => {
    const input = { task, unlanded, force, deleteBranch };
    const cleaned = await cleanUpAsking(access, input, canAsk(cli, options) ? confirm : undefined);
    if (cleaned === undefined) cli.output.note('Nothing was changed.');
    else if (options.json) cli.output.json(view(cleaned));
    else print(cli, cleaned);
    await access.workspaces((context) => tendLater(cli, context));
  });
}

function print({ output }: Cli, { removed, kept }: Cleaned): void {
  for (const one of removed) {
    const { task, path, why, hasPaused } = one;
    if (path === null) {
      output.line(`${task} has no worktree of its own; nothing was removed.`);
      continue;
    }
    output.line(`Removed ${shown(path)}${why === undefined ? '' : `: ${why}`}`);
    for (const line of removedLines(one, output)) output.line(line);
    if (hasPaused) output.line(`    ${task} is paused now. To go on with it: copse work ${task}`);
  }
  const refused = kept.filter(({ isInUse }) => isInUse !== true);
  for (const { path, reason } of refused) output.line(`Kept ${shown(path)}\n    ${shown(reason)}`);
  const inUse = kept.length - refused.length;
  if (removed.length + refused.length === 0)
    output.line('Nothing to remove: no done or cancelled task has a worktree.');
  if (inUse === 0) return;
  output.line(`Kept ${counted(inUse, 'worktree')} of tasks that are not over.`);
  output.line(output.style('dim', '  → copse worktrees'));
}
