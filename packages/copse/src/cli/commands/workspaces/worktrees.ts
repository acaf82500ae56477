import { withAccess } from '../../../compose/operations/access.ts';
import { age, megabytesText } from '../../../explain/rules/amounts.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { type SizedWorktree, act, view } from '../../../operations/worktrees/list.ts';
import { isFinished } from '../../../tasks/rules/task.ts';
import type { ListedWorktree, SpareWorktree } from '../../../workspaces/act/worktree-list.ts';
import type { FolderSize } from '../../../workspaces/ports/furnishing.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { columnsFor } from '../../screen/render.ts';
import { cutAtWords, factLines } from '../../screen/screen.ts';

interface Options {
  readonly all?: boolean;
  readonly size?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { all, size } = options;
  const listed = await withAccess(cli, (access) => act(access, { all, size }));
  if (options.json) return cli.output.json(view(listed));
  const { worktrees, spare, at } = listed;
  if (worktrees.length === 0) cli.output.line('No worktrees. To take a task: copse work');
  for (const one of worktrees) print(cli, one, at);
  for (const { path, kind } of spare ?? []) {
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
  idle: 'yellow',
  committed: 'yellow',
  merged: 'green',
  released: 'dim',
  kept: 'yellow',
  left_over: 'dim',
  no_folder: 'dim',
  missing: 'red',
  broken: 'red',
};

/** `cp-a1b2 COMMITTED (15m) Add a log-in page`, then what git and the board say, then the folder. */
function print({ output }: Cli, one: SizedWorktree, now: Timestamp): void {
  const { workspace, status, title, path, size } = one;
  const columns = columnsFor(output);
  const head = `${workspace.task} ${status.toUpperCase().replaceAll('_', ' ')}`;
  const since = ` (${age(workspace.preparedAt, now)}) `;
  const name = cutAtWords(shown(title ?? ''), columns - head.length - since.length);
  output.line(`${output.style(styles[status], head)}${since}${name}`.trimEnd());
  const facts = [...details(one), ...(size === undefined ? [] : [sizeText(size)])];
  for (const line of factLines(facts, columns - INDENT.length)) output.line(`${INDENT}${line}`);
  if (status !== 'no_folder') output.line(output.style('dim', `${INDENT}${shown(path)}`));
}

const INDENT = '      ';

const MEGABYTE = 1024 ** 2;

function sizeText({ bytes, isWhole }: FolderSize): string {
  if (!isWhole) return `more than ${megabytesText(bytes)}`;
  return bytes < MEGABYTE ? 'less than 1 MB' : megabytesText(bytes);
}

function nextOf({ workspace: { task }, isReadyToMerge, taskStatus }: ListedWorktree): readonly string[] {
  if (taskStatus === null || isFinished(taskStatus)) return [`to remove: copse cleanup ${task}`];
  if (taskStatus === 'needs_attention') return [`needs you: copse why ${task}`];
  return isReadyToMerge ? [`in review: copse review ${task}`] : [];
}

function details(one: ListedWorktree): readonly string[] {
  const { workspace, branch, uncommitted, operation, why, taskStatus, status } = one;
  const task = taskStatus === null ? 'task deleted' : `task ${taskStatus.replaceAll('_', ' ')}`;
  if (status === 'no_folder') return [task, branch === null ? '' : shown(branch), shown(why ?? '')];
  if (status === 'missing' || status === 'broken') return [task, shown(why ?? '')];
  return [
    task,
    branch === null ? 'detached' : shown(branch),
    ...(branch === null || branch === workspace.worktree?.branch
      ? []
      : [`HEAD is not on its branch ${shown(workspace.worktree?.branch ?? '')}`]),
    aheadText(one),
    uncommitted === null ? 'changes unknown' : `${uncommitted} uncommitted`,
    ...(operation === null ? [] : [`${shown(operation)} in progress`]),
    ...nextOf(one),
  ];
}

function aheadText({ ahead, status }: ListedWorktree): string {
  if (ahead === null) return 'base unknown';
  // The base has other commits with the same work.
  return status === 'merged' && ahead > 0 ? 'landed' : `${ahead} ahead`;
}
