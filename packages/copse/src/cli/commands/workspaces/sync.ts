import { type TaskSynced, syncTask } from '../../../workspaces/act/sync.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { printAhead } from '../../after/ahead.ts';
import { requireTaskHere } from './task-here.ts';
import type { Invocation } from '../../invocation.ts';
import { stop, withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly conflict?: boolean;
  readonly json?: boolean;
}

type Synced = Exclude<TaskSynced, { kind: 'refused' }>;

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withWorkspaces(cli, async (context) => {
    const task = await requireTaskHere(context, cli, words[0]);
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
    }
    for (const note of outcome.notes) cli.output.line(cli.output.style('yellow', shown(note)));
    const now = outcome.kind === 'conflict_left' ? undefined : await context.board.get('task', task);
    if (now) await printAhead(cli, context, now);
  });
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
      return `${base} and ${task} conflict. Resolve these files in the worktree and commit, or: git merge --abort`;
    default:
      return unreachable(outcome);
  }
}
