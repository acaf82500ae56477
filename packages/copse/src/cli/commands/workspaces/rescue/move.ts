import { withAccess } from '../../../../compose/operations/access.ts';
import { shown } from '../../../../kernel/text.ts';
import { act, requireInside, view } from '../../../../operations/worktrees/rescues/move.ts';
import type { PathMove } from '../../../../workspaces/ports/worktrees.ts';
import type { Invocation } from '../../../invocation.ts';

interface Options {
  readonly json?: boolean;
}

const reasons: Readonly<Record<PathMove['outcome'], string>> = {
  moved: 'moved',
  unchanged: 'unchanged since the last commit',
  staged: 'staged; unstage it first',
  in_the_way: 'the worktree has its own version',
  changed_since: 'it changed during the move; both places have it now',
  not_a_file: 'not a file',
};

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [task = '', ...named] = words;
  await withAccess(cli, async (access) => {
    const root = await access.workspaces(async (context) => context.root);
    // Relative to the current folder; relative to the top when the current folder is in another worktree.
    const from = access.here.top() === root ? cli.cwd : root;
    const paths = named.map((word) => requireInside(root, word, from));
    const done = await act(access, { task, paths });
    if (options.json) return cli.output.json(view(done));
    const { moved, left, rescue } = done;
    for (const one of moved) cli.output.line(`moved  ${shown(one)}`);
    for (const one of left) cli.output.line(`left   ${shown(one.path)}: ${reasons[one.outcome]}`);
    cli.output.line(`    The main checkout before the move is saved as ${shown(rescue)}`);
  });
}
