import { type Undone, undo } from '../../app/undo.ts';
import { shown } from '../../domain/text.ts';
import { orFail } from '../failure.ts';
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
    const { task, path, branch, what, inTheWay } = orFail(await undo(context, id));
    if (options.json) {
      cli.output.json({ task, worktree: path, branch, undone: what, inTheWay });
      return;
    }
    cli.output.line(`${undone[what]}: #${task} on ${shown(branch)}`);
    cli.output.line(`    cd ${shellWord(path)}`);
    if (inTheWay.length === 0) return;
    cli.output.line('These stay in the trash, because something else has their place by now:');
    for (const file of inTheWay) cli.output.line(`    ${shown(file)}`);
  });
}
