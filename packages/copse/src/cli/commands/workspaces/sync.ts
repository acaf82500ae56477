import { withAccess } from '../../../compose/operations/access.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { type SyncedTask, act, view } from '../../../operations/worktrees/sync.ts';
import { type WorkspaceContext, workspaceOf } from '../../../workspaces/act/context.ts';
import { printAhead } from '../../after/ahead.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly conflict?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { output } = cli;
  await withAccess(cli, async (access) => {
    const done = await act(access, { task: words[0], leaveConflict: options.conflict });
    if (options.json) return output.json(view(done));
    const { task, synced } = done;
    output.line(describe(done));
    await access.workspaces(async (context) => {
      if (synced.kind === 'conflict_left') {
        for (const path of synced.paths) output.line(`    ${shown(path)}`);
        printSteps(output, await conflictLeftSteps(context, task));
      }
      for (const note of synced.notes) output.line(output.style('yellow', shown(note)));
      const now = synced.kind === 'conflict_left' ? undefined : await context.board.get('task', task);
      if (now) await printAhead(cli, context, now);
    });
  });
}

/** The merge waits in the worktree for a commit. */
async function conflictLeftSteps(context: WorkspaceContext, id: TaskId): Promise<readonly string[]> {
  const folder = shellWord((await workspaceOf(context, id))?.worktree?.path ?? '.');
  const task = await context.board.get('task', id);
  const then = task?.state.status === 'in_progress' ? 'finish' : 'merge';
  return [
    `cd ${folder} # resolve these files there, and commit`,
    `copse ${then} ${id} # after your commit`,
    `git -C ${folder} merge --abort # to undo the merge instead`,
  ];
}

function describe({ task, synced: outcome }: SyncedTask): string {
  const base = shown(outcome.base);
  switch (outcome.kind) {
    case 'up_to_date':
      return `${task} already has everything from ${base}.`;
    case 'fast_forwarded':
      return `Moved ${task} to ${base} (${counted(outcome.files, 'file')}).`;
    case 'merged':
      return `Merged ${base} into ${task} (${counted(outcome.files, 'file')}).`;
    case 'rebased':
      return `Rebased ${task} onto ${base} (${counted(outcome.files, 'file')}).`;
    case 'conflict_left':
      return `Merging ${base} into ${task} stopped: ${counted(outcome.paths.length, 'file')} ${outcome.paths.length === 1 ? 'conflicts' : 'conflict'}:`;
    default:
      return unreachable(outcome);
  }
}
