import {
  type ListContext,
  type ListedWorktree,
  type SpareWorktree,
  listSpareWorktrees,
  listWorktrees,
} from '../../../workspaces/act/worktree-list.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { worktreeView } from '../../../operations/views/workspace-views.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { withWorktreeList } from '../../../compose/look.ts';
import { withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  // The pool is opened only when it is asked for.
  if (options.all)
    await withWorkspaces(cli, async (context) =>
      show(cli, options, context, await listSpareWorktrees(context)),
    );
  else await withWorktreeList(cli, (context) => show(cli, options, context, []));
}

async function show(
  cli: Cli,
  { all, json }: Options,
  context: ListContext,
  spare: readonly SpareWorktree[],
): Promise<void> {
  const worktrees = await listWorktrees(context);
  if (json) {
    const others = spare.map(({ path, kind }) => ({ worktree: path, kind }));
    cli.output.json({ worktrees: worktrees.map(worktreeView), ...(all && { others }) });
    return;
  }
  print(cli, worktrees, context.clock.now());
  for (const { path, kind } of spare) {
    cli.output.line(`${kinds[kind]}\n${cli.output.style('dim', `      ${shown(path)}`)}`);
  }
}

const kinds: Readonly<Record<SpareWorktree['kind'], string>> = {
  pooled: 'POOLED, ready for a task',
  queue: 'QUEUE, checks run here',
  not_managed: 'NOT MANAGED, not created by Copse',
};

const styles: Readonly<Record<ListedWorktree['status'], Parameters<Output['style']>[0]>> = {
  active: 'cyan',
  committed: 'yellow',
  merged: 'green',
  released: 'dim',
  kept: 'yellow',
  missing: 'red',
  broken: 'red',
};

function print({ output }: Cli, worktrees: readonly ListedWorktree[], now: Timestamp): void {
  if (worktrees.length === 0) {
    output.line('No worktrees. To take a task: copse work');
    return;
  }
  for (const one of worktrees) {
    const { workspace, status, branch, path } = one;
    const head = output.style(styles[status], `${workspace.task} ${status.toUpperCase()}`);
    const where = branch === null ? 'detached' : shown(branch);
    const since = age(workspace.preparedAt, now);
    output.line([`${head} (${since}) ${where}`, ...details(one)].join(' · '));
    output.line(output.style('dim', `      ${shown(path)}`));
  }
}

function details({
  workspace,
  branch,
  ahead,
  uncommitted,
  operation,
  why,
  taskStatus,
  status,
}: ListedWorktree): readonly string[] {
  if (status === 'missing' || status === 'broken') return [shown(why ?? '')];
  return [
    ...(branch === null || branch === workspace.worktree?.branch
      ? []
      : [`HEAD is not on its branch ${shown(workspace.worktree?.branch ?? '')}`]),
    ahead === null ? 'base unknown' : `${ahead} ahead`,
    uncommitted === null ? 'changes unknown' : `${uncommitted} uncommitted`,
    ...(operation === null ? [] : [`${shown(operation)} in progress`]),
    taskStatus === null ? 'task deleted' : `task ${taskStatus.replaceAll('_', ' ')}`,
  ];
}
