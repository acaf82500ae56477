import { withAccess } from '../../../compose/operations/access.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { type RunContext, contextToStop } from '../../../queue/context.ts';
import { workspaceOf } from '../../../workspaces/act/context.ts';
import { canAsk, confirm } from '../../ask.ts';
import { fail } from '../../../operations/failure.ts';
import { type DeletedOne, act, view } from '../../../operations/tasks/delete.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { removedLines } from '../workspaces/removed-text.ts';
import { requireTaskIds } from '../../../operations/find.ts';
import { contextOfAll } from '../../../operations/access.ts';

interface Options {
  readonly unlink?: boolean;
  readonly keepWorktree?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { unlink, keepWorktree = false } = options;
  await withAccess(cli, async (access) =>
    access.run(async (run) => {
      const tasks = [...new Set(await requireTaskIds(run.board, words))];
      const context = await contextOfAll(run, tasks, contextToStop);
      if (!options.yes && !canAsk(cli, options)) refuseUnasked(tasks, options);
      if (!options.yes && !(await isMeant(context, tasks, { keepWorktree }))) {
        cli.output.note('Nothing was changed.');
        return;
      }
      const deleted = await act(access, { tasks, unlink, keepWorktree });
      if (options.json) cli.output.json(view(deleted));
      else for (const one of deleted) await print(cli, context, one);
    }),
  );
}

/** Without a terminal there is no question, so the command has to say that it is meant. */
function refuseUnasked(ids: readonly TaskId[], { unlink, keepWorktree }: Options): never {
  const options = [...(unlink ? ['--unlink'] : []), ...(keepWorktree ? ['--keep-worktree'] : []), '--yes'];
  const [what, them] = ids.length === 1 ? [String(ids[0]), 'it'] : [counted(ids.length, 'task'), 'them'];
  fail(
    'wrong_status',
    `Not deleted: without a terminal, Copse cannot ask whether to delete ${what}.`,
    `copse delete ${[...ids, ...options].join(' ')} # to delete ${them}`,
  );
}

/** Asks once for all, with what happens to each. */
async function isMeant(
  context: RunContext,
  ids: readonly TaskId[],
  { keepWorktree }: { readonly keepWorktree: boolean },
): Promise<boolean> {
  const lines: string[] = [];
  for (const id of ids) lines.push(...(await consequences(context, id, keepWorktree)));
  const what = ids.length === 1 ? 'this task' : counted(ids.length, 'task');
  return confirm(`Delete ${what}?\n${lines.join('\n')}`);
}

async function consequences(
  context: RunContext,
  id: TaskId,
  keepWorktree: boolean,
): Promise<readonly string[]> {
  const task = await context.board.get('task', id);
  const lines = [`${id} ${task?.title ?? ''}`];
  if (task?.state.status === 'in_progress' && !task.state.claim.isByHand)
    lines.push(`  its agent ${task.state.claim.agent} is stopped`);
  if (task?.state.status === 'landing') lines.push('  it leaves the queue and does not land');
  const worktree = (await workspaceOf(context, id))?.worktree;
  if (!worktree) return lines;
  if (keepWorktree) return [...lines, `  its worktree ${worktree.path} stays`];
  const files = await uncommittedIn(context, worktree.path);
  const rescued = files ? ` (${counted(files, 'uncommitted file')}, rescued first)` : '';
  lines.push(`  its worktree ${worktree.path} goes to the trash${rescued}`);
  return [...lines, `  its branch ${worktree.branch} stays if it has commits that are not merged`];
}

/** Undefined when git cannot tell. */
async function uncommittedIn({ git }: RunContext, path: string): Promise<number | undefined> {
  try {
    const { changed, untracked } = await git.uncommitted(path);
    return changed.length + untracked.length;
  } catch {
    return undefined;
  }
}

async function print({ output }: Cli, context: RunContext, result: DeletedOne): Promise<void> {
  const { task, agent, remaining, removed, branch } = result;
  output.line(`Deleted ${task.id} ${shown(task.title)}`);
  if (agent === 'stopped' && remaining.length === 0) output.line('    its agent was stopped');
  if (agent === 'elsewhere') output.line('    its agent runs on another machine, where its runner stops it');
  for (const { pid, name } of remaining)
    output.line(output.style('yellow', `    process ${pid} (${shown(name)}) could not be ended`));
  if (task.state.status === 'landing') output.line('    it left the queue');
  const kept = removed === null ? (await workspaceOf(context, task.id))?.worktree : undefined;
  if (kept)
    output.line(
      `    worktree ${shown(kept.path)} and branch ${shown(kept.branch)} kept: copse cleanup ${task.id}`,
    );
  if (branch !== null) {
    const unmerged = branch.unmerged === 0 ? '' : `: ${counted(branch.unmerged, 'commit')} did not land`;
    output.line(`    branch ${shown(branch.name)} kept${unmerged}`);
  }
  if (removed === null || removed.path === null) return;
  output.line(`    worktree ${shown(removed.path)} removed`);
  for (const line of removedLines(removed, output)) output.line(line);
}
