import path from 'node:path';

import { moveEscape } from '../../../../workspaces/discard/escape-guard.ts';
import type { WorkspaceContext } from '../../../../workspaces/act/context.ts';
import { requireRepository } from '../../../../compose/open.ts';
import { shown } from '../../../../kernel/text.ts';
import type { PathMove } from '../../../../workspaces/ports/worktrees.ts';
import { fail } from '../../../../operations/failure.ts';
import type { Cli, Invocation } from '../../../invocation.ts';
import { requireTaskId } from '../../../../operations/find.ts';
import { refuseElsewhere, stop, withWorkspaces } from '../../../with-workspaces.ts';

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
  const [word = '', ...named] = words;
  await withWorkspaces(cli, async (context) => {
    const task = await requireTaskId(context.board, word);
    await refuseElsewhere(context, task);
    const paths = named.map((one) => insideCheckout(cli, context, one));
    const outcome = await moveEscape(context, { task, ...(paths.length > 0 && { paths }) });
    if (outcome.kind === 'refused') stop(outcome);
    const { moved, left, rescue } = outcome;
    if (options.json) {
      cli.output.json({ task, moved, left, rescue });
      return;
    }
    for (const one of moved) cli.output.line(`moved  ${shown(one)}`);
    for (const one of left) cli.output.line(`left   ${shown(one.path)}: ${reasons[one.outcome]}`);
    cli.output.line(`    The main checkout before the move is saved as ${shown(rescue)}`);
  });
}

/** Relative to the current folder; relative to the top when the current folder is in another worktree. */
function insideCheckout(cli: Cli, { root }: WorkspaceContext, word: string): string {
  const isThere = requireRepository(cli).top === root;
  const relative = path.relative(root, path.resolve(isThere ? cli.cwd : root, word));
  if (relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`)) return relative;
  return fail('invalid', `${shown(word)} is not inside the main checkout.`, `cd ${root}`);
}
