import {
  type CleanedUp,
  type RemovedOne,
  cleanUp,
  withIgnored,
} from '../../../workspaces/discard/cleanup.ts';
import { removeWorkspace } from '../../../workspaces/discard/remove.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { keptView, removedView } from '../../../operations/views/workspace-views.ts';
import { canAsk, confirm } from '../../ask.ts';
import { fail } from '../../../operations/failure.ts';
import { tasksWithWorktrees } from './task-here.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { removedLines } from './removed-text.ts';
import { tendLater } from './tend-later.ts';
import { refuseElsewhere, requireTaskIdAmong, stop, withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly force?: boolean;
  /** Answers the question that a person would be asked. */
  readonly yes?: boolean;
  readonly deleteBranch?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word] = words;
  if (word === undefined && options.deleteBranch) {
    fail(
      'invalid',
      '--delete-branch needs a task: unmerged branches are deleted one at a time.',
      'copse worktrees # to see the ids',
    );
  }
  await withWorkspaces(cli, async (context) => {
    const cleaned =
      word === undefined
        ? await removeFinished(cli, context, options)
        : await removeNamed(cli, context, word, options);
    if (cleaned === undefined) {
      cli.output.note('Nothing was changed.');
    } else if (options.json) {
      const { removed, kept } = cleaned;
      cli.output.json({ removed: removed.map(removedView), kept: kept.map(keptView) });
    } else {
      print(cli, cleaned);
    }
    await tendLater(cli, context);
  });
}

type Cleaned = Omit<CleanedUp, 'removed'> & {
  readonly removed: readonly (RemovedOne & { readonly why?: string; readonly hasPaused?: boolean })[];
};

function removeFinished(cli: Cli, context: WorkspaceContext, options: Options): Promise<Cleaned> {
  return cleanUp(context, {
    isForced: options.force ?? false,
    mayRemove: (question) => isAgreed(cli, options, question),
  });
}

async function isAgreed(cli: Cli, options: Options, question: string): Promise<boolean> {
  if (options.yes) return true;
  return canAsk(cli, options) && confirm(question);
}

/** Undefined when the person declined. */
async function removeNamed(
  cli: Cli,
  context: WorkspaceContext,
  word: string,
  options: Options,
): Promise<Cleaned | undefined> {
  const task = await requireTaskIdAmong(context, word, await tasksWithWorktrees(context));
  await refuseElsewhere(context, task);
  const request = {
    by: 'person',
    isNamed: true,
    isForced: options.force ?? false,
    deleteBranch: options.deleteBranch ?? false,
  } as const;
  const statusNow = async () => (await context.board.get('task', task))?.state.status;
  const before = await statusNow();
  let outcome = await removeWorkspace(context, task, request);
  if (outcome.kind === 'question') {
    const { question } = outcome;
    if (!options.yes && !canAsk(cli, options)) {
      fail('wrong_status', question, `copse cleanup ${task} --yes # rescues uncommitted files first`);
    }
    if (!(await isAgreed(cli, options, question))) return undefined;
    outcome = await removeWorkspace(context, task, { ...request, isForced: true });
  }
  if (outcome.kind === 'removed') {
    const hasPaused = before === 'in_progress' && (await statusNow()) === 'paused';
    return { removed: [{ ...(await withIgnored(context, outcome)), hasPaused }], kept: [] };
  }
  return 'reason' in outcome ? stop(outcome) : undefined;
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
