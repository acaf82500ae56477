/**
 * Prints the folder of a worktree, and nothing else, on standard output: the shell function of `copse shell-init` changes to it.
 * Questions and hints go to stderr.
 */

import { existsSync } from 'node:fs';

import { withWorktreeList } from '../../../compose/look.ts';
import { requireRepository } from '../../../compose/open.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { ListContext } from '../../../workspaces/act/worktree-list.ts';
import { workspaceOf } from '../../../workspaces/act/context.ts';
import { isFinished, statusPredicate } from '../../../tasks/rules/task.ts';
import { canAskAside, choose } from '../../ask.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { requireTaskId } from '../../../operations/find.ts';

interface Options {
  readonly json?: boolean;
}

/** No id: ids have no i. */
const MAIN = 'main';

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withWorktreeList(cli, async (context) => {
    const [word] = words;
    const chosen = word ?? (await pick(cli, context, options));
    if (chosen === undefined) fail('wrong_status', 'No worktree was chosen.', 'copse worktrees');
    const folder =
      chosen === MAIN
        ? requireRepository(cli).home
        : await folderOf(context, await requireTaskId(context.board, chosen));
    if (/[\n\r]/.test(folder))
      fail('unavailable', `A shell cannot change to ${shown(JSON.stringify(folder))}.`, 'copse worktrees');
    if (options.json) cli.output.json({ worktree: folder });
    else cli.output.line(cli.output.isTerminal ? shown(folder) : folder);
    if (cli.output.isTerminal && !options.json)
      cli.output.note('To change to it with copse switch: copse shell-init --help');
  });
}

async function folderOf(context: ListContext, task: TaskId): Promise<string> {
  const folder = (await workspaceOf(context, task))?.worktree?.path;
  if (folder !== undefined && existsSync(folder)) return folder;
  const status = (await context.board.get('task', task))?.state.status;
  const isOver = status !== undefined && isFinished(status);
  const step = isOver ? `copse why ${task}` : `copse work ${task}`;
  if (folder !== undefined)
    return fail('not_found', `The worktree of ${task} at ${shown(folder)} is gone.`, step);
  const over = isOver ? `${statusPredicate(status)} and ` : '';
  return fail('not_found', `${task} ${over}has no worktree on this machine.`, step);
}

async function pick(cli: Cli, { board, node }: ListContext, options: Options): Promise<string | undefined> {
  const workspaces = await board.list('workspace');
  const here = workspaces.filter(
    (one) => one.node === node && one.worktree && one.disposition.is !== 'released',
  );
  const tasks = await board.tasks({ finished: false, order: 'urgent' });
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  const answers = here.map(({ task }) => ({
    value: task,
    label: `${task}  ${titles.get(task) ?? '(finished)'}`,
  }));
  if (canAskAside(cli, options))
    return choose('Which worktree?', [...answers, { value: MAIN, label: 'main  the main checkout' }], {
      isAside: true,
    });
  const [first] = here;
  return fail(
    'invalid',
    'No task given.',
    first === undefined ? 'copse work' : `copse switch ${first.task}`,
    'copse worktrees # to see the ids',
  );
}
