import { type Undone, undo } from '../../../workspaces/discard/undo.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { ignoredView } from '../../../operations/views/workspace-views.ts';
import { fail, orFail } from '../../failure.ts';
import { ignoredWords } from '../../screen/ignored.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { shellWord } from '../../screen/quote.ts';
import { undoLanded } from '../queue/undo-landing.ts';
import { requireTaskIdAmong, withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  /** Of a task that has landed: its worktree, not what landed. */
  readonly worktree?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const undone: Readonly<Record<Undone['what'], string>> = {
  removal: 'The worktree is back',
  reset: 'The worktree is as it was before its reset',
  broken: 'The worktree that was set aside is back',
  undo: 'The worktree is as it was before it was last undone',
};

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const landed = await undoWorktree(cli, words, options);
  if (landed !== undefined) await undoLanded(cli, landed, options);
}

/** The id of a task that has landed, of which nothing was undone yet. */
async function undoWorktree(
  cli: Cli,
  [word]: readonly string[],
  options: Options,
): Promise<TaskId | undefined> {
  return withWorkspaces(cli, async (context) => {
    const inTrash = async () => (await context.trash.list()).map(({ record }) => record.task);
    const id = word === undefined ? undefined : await requireTaskIdAmong(context, word, await inTrash());
    const state = id && (await context.board.get('task', id))?.state;
    if (state?.status === 'done' && state.how === 'landed' && !options.worktree) return id;
    if (options.dryRun) fail('usage', 'Only the undo of a landing can be tried.', 'copse undo --help');
    const { task, path, branch, what, inTheWay, ignored, notes } = orFail(await undo(context, id));
    if (options.json) {
      const view = { task, worktree: path, branch, undone: what, inTheWay };
      cli.output.json({ ...view, ignored: ignoredView(ignored), notes });
      return undefined;
    }
    cli.output.line(`${undone[what]}: ${task} on ${branch === null ? 'no branch' : shown(branch)}`);
    cli.output.line(`    cd ${shellWord(path)}`);
    const words = ignoredWords(ignored);
    if (words !== undefined) cli.output.line(`    from the trash, too: ${words}`);
    for (const note of notes) cli.output.line(cli.output.style('yellow', `    ${shown(note)}`));
    if (inTheWay.length === 0) return undefined;
    cli.output.line('These stay in the trash, because something else has their place by now:');
    for (const file of inTheWay) cli.output.line(`    ${shown(file)}`);
    return undefined;
  });
}
