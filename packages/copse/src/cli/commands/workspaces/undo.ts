import { type Undone, undo } from '../../../workspaces/discard/undo.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { ignoredView } from '../../../operations/views/workspace-views.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import { ignoredText } from '../../../explain/changes.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { undoLanded } from '../queue/undo-landing.ts';
import { refuseElsewhere, requireTaskIdAmong, withWorkspaces } from '../../with-workspaces.ts';
import { printSteps } from '../../after/next-steps.ts';

interface Options {
  /** Of a landed task: bring back its worktree instead of undoing the landing. */
  readonly worktree?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const undone: Readonly<Record<Undone['what'], string>> = {
  removal: 'Brought back the worktree of',
  reset: 'Undid the reset of',
  broken: 'Brought back the broken worktree of',
  undo: 'Undid the last undo of',
};

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const landed = await undoWorktree(cli, words, options);
  if (landed !== undefined) await undoLanded(cli, landed, options);
}

/** Returns the id of a landed task, for which nothing was done yet. */
async function undoWorktree(
  cli: Cli,
  [word]: readonly string[],
  options: Options,
): Promise<TaskId | undefined> {
  return withWorkspaces(cli, async (context) => {
    const inTrash = async () => (await context.trash.list()).map(({ record }) => record.task);
    const id = word === undefined ? undefined : await requireTaskIdAmong(context, word, await inTrash());
    await refuseElsewhere(context, id);
    const state = id && (await context.board.get('task', id))?.state;
    if (state?.status === 'done' && state.how === 'landed' && !options.worktree) return id;
    if (options.dryRun)
      fail('usage', '--dry-run works only for a task that has landed.', 'copse undo --help');
    const { task, path, branch, what, inTheWay, ignored, notes } = orFail(await undo(context, id));
    if (options.json) {
      const view = { task, worktree: path, branch, undone: what, inTheWay };
      cli.output.json({ ...view, ignored: ignoredView(ignored), notes });
      return undefined;
    }
    cli.output.line(`${undone[what]} ${task}, on ${branch === null ? 'no branch' : shown(branch)}`);
    cli.output.line(`    cd ${shellWord(path)}`);
    const words = ignoredText(ignored);
    if (words !== undefined) cli.output.line(`    restored from the trash: ${words}`);
    for (const note of notes) cli.output.line(cli.output.style('yellow', `    ${shown(note)}`));
    if (inTheWay.length > 0) {
      cli.output.line('Other files have taken the place of these, which stay in the trash:');
      for (const file of inTheWay) cli.output.line(`    ${shown(file)}`);
    }
    const next =
      what === 'removal' ? `copse cleanup ${task} # to remove it again` : `copse undo ${task} # to undo this`;
    printSteps(cli.output, [next]);
    return undefined;
  });
}
