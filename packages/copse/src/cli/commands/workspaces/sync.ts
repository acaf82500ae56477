import { type TaskSynced, syncTask } from '../../../workspaces/act/sync.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { type WorkspaceContext, workspaceOf } from '../../../workspaces/act/context.ts';
import { printSteps } from '../../after/next-steps.ts';
import { printAhead } from '../../after/ahead.ts';
import { requireTaskHere } from './task-here.ts';
import type { Invocation } from '../../invocation.ts';
import { refuseElsewhere, stop, withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly conflict?: boolean;
  readonly json?: boolean;
}

type Synced = Exclude<TaskSynced, { kind: 'refused' }>;

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withWorkspaces(cli, async (context) => {
    const task = await requireTaskHere(context, cli, words[0]);
    await refuseElsewhere(context, task);
    const outcome = await syncTask(context, { task, leaveConflict: options.conflict ?? false });
    if (outcome.kind === 'refused') stop({ ...outcome, reason: withPaths(outcome.reason, outcome.paths) });
    if (options.json) {
      const { kind: synced, ...rest } = outcome;
      cli.output.json({ task, synced, ...rest });
      return;
    }
    cli.output.line(describe(task, outcome));
    if (outcome.kind === 'conflict_left') {
      for (const path of outcome.paths) cli.output.line(`    ${shown(path)}`);
      printSteps(cli.output, await conflictLeftSteps(context, task));
    }
    for (const note of outcome.notes) cli.output.line(cli.output.style('yellow', shown(note)));
    const now = outcome.kind === 'conflict_left' ? undefined : await context.board.get('task', task);
    if (now) await printAhead(cli, context, now);
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

const NAMED = 10;

function withPaths(reason: string, paths: readonly string[]): string {
  const lines = paths.slice(0, NAMED).map((path) => `  ${path}`);
  const more = paths.length > NAMED ? [`  … and ${paths.length - NAMED} more`] : [];
  return [reason, ...lines, ...more].join('\n');
}

function describe(task: TaskId, outcome: Synced): string {
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
      return `Merged ${base} into ${task}; ${counted(outcome.paths.length, 'file')} ${outcome.paths.length === 1 ? 'conflicts' : 'conflict'}:`;
    default:
      return unreachable(outcome);
  }
}
