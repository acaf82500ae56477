import {
  type ListContext,
  type ListedWorktree,
  type SpareWorktree,
  listSpareWorktrees,
  listWorktrees,
} from '../../../workspaces/act/worktree-list.ts';
import { isFinished } from '../../../tasks/rules/task.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { worktreeView } from '../../../operations/views/workspace-views.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { age, megabytesText } from '../../../explain/rules/amounts.ts';
import type { FolderSize } from '../../../compose/known-here.ts';
import { withWorktreeList } from '../../../compose/look.ts';
import { columnsFor } from '../../screen/render.ts';
import { cutAtWords, factLines } from '../../screen/screen.ts';
import { withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly all?: boolean;
  readonly size?: boolean;
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
  options: Options,
  context: ListContext,
  spare: readonly SpareWorktree[],
): Promise<void> {
  const worktrees = await listWorktrees(context);
  const sizeOf = options.size ? await sizes() : () => undefined;
  if (options.json) {
    const others = spare.map(({ path, kind }) => ({ worktree: path, kind }));
    const views = worktrees.map((one) => worktreeView(one, sizeOf(one)));
    cli.output.json({ worktrees: views, ...(options.all && { others }) });
    return;
  }
  if (worktrees.length === 0) cli.output.line('No worktrees. To take a task: copse work');
  for (const one of worktrees) print(cli, one, context.clock.now(), sizeOf(one));
  for (const { path, kind } of spare) {
    cli.output.line(`${kinds[kind]}\n${cli.output.style('dim', `      ${shown(path)}`)}`);
  }
}

/** For all worktrees together: a person waits for the answer. */
const SIZES_MS = 2_000;

async function sizes(): Promise<(one: ListedWorktree) => FolderSize> {
  const { folderSize } = await import('../../../compose/known-here.ts');
  const untilMs = performance.now() + SIZES_MS;
  return ({ path }) => folderSize(path, untilMs);
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
function print({ output }: Cli, one: ListedWorktree, now: Timestamp, size: FolderSize | undefined): void {
  const { workspace, status, title, path } = one;
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
  const { workspace, branch, ahead, uncommitted, operation, why, taskStatus, status } = one;
  const task = taskStatus === null ? 'task deleted' : `task ${taskStatus.replaceAll('_', ' ')}`;
  if (status === 'no_folder') return [task, branch === null ? '' : shown(branch), shown(why ?? '')];
  if (status === 'missing' || status === 'broken') return [task, shown(why ?? '')];
  return [
    task,
    branch === null ? 'detached' : shown(branch),
    ...(branch === null || branch === workspace.worktree?.branch
      ? []
      : [`HEAD is not on its branch ${shown(workspace.worktree?.branch ?? '')}`]),
    ahead === null ? 'base unknown' : `${ahead} ahead`,
    uncommitted === null ? 'changes unknown' : `${uncommitted} uncommitted`,
    ...(operation === null ? [] : [`${shown(operation)} in progress`]),
    ...nextOf(one),
  ];
}
