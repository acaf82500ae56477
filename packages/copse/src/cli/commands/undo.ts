import { type Undone, undo } from '../../app/undo.ts';
import { shown } from '../../domain/text.ts';
import { ignoredView } from '../../protocol/workspace-views.ts';
import { orFail } from '../failure.ts';
import { ignoredWords } from '../ignored.ts';
import type { Invocation } from '../invocation.ts';
import { shellWord } from '../quote.ts';
import { requireTaskIdAmong, withWorkspaces } from '../with-workspaces.ts';

interface Options {
  readonly json?: boolean;
}

const undone: Readonly<Record<Undone['what'], string>> = {
  removal: 'The worktree is back',
  reset: 'The worktree is as it was before its reset',
  broken: 'The worktree that was set aside is back',
  undo: 'The worktree is as it was before it was last undone',
};

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word] = words;
  await withWorkspaces(cli, async (context) => {
    const inTrash = async () => (await context.trash.list()).map(({ record }) => record.task);
    const id = word === undefined ? undefined : await requireTaskIdAmong(context, word, await inTrash());
    const { task, path, branch, what, inTheWay, ignored, notes } = orFail(await undo(context, id));
    if (options.json) {
      const view = { task, worktree: path, branch, undone: what, inTheWay };
      cli.output.json({ ...view, ignored: ignoredView(ignored), notes });
      return;
    }
    cli.output.line(`${undone[what]}: #${task} on ${branch === null ? 'no branch' : shown(branch)}`);
    cli.output.line(`    cd ${shellWord(path)}`);
    const words = ignoredWords(ignored);
    if (words !== undefined) cli.output.line(`    from the trash, too: ${words}`);
    for (const note of notes) cli.output.line(cli.output.style('yellow', `    ${shown(note)}`));
    if (inTheWay.length === 0) return;
    cli.output.line('These stay in the trash, because something else has their place by now:');
    for (const file of inTheWay) cli.output.line(`    ${shown(file)}`);
  });
}
