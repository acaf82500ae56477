import { withAccess } from '../../../compose/operations/access.ts';
import { ignoredText } from '../../../explain/changes.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import type { Access } from '../../../operations/access.ts';
import { fail } from '../../../operations/failure.ts';
import { act, requireRemoved, view } from '../../../operations/worktrees/undo.ts';
import type { Undone } from '../../../workspaces/discard/undo.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { undoLanded } from '../queue/undo-landing.ts';

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
  const [word] = words;
  await withAccess(cli, async (access) => {
    const landed = await findLanded(access, word);
    if (landed !== undefined && !options.worktree) return undoLanded(cli, access, landed, options);
    if (options.dryRun)
      fail('usage', '--dry-run works only for a task that has landed.', 'copse undo --help');
    const done = await act(access, { task: word });
    if (options.json) cli.output.json(view(done));
    else print(cli.output, done);
  });
}

async function findLanded(access: Access, word: string | undefined): Promise<TaskId | undefined> {
  return access.workspaces(async (context) => {
    const id = await requireRemoved(context, word);
    const state = id && (await context.board.get('task', id))?.state;
    return state?.status === 'done' && state.how === 'landed' ? id : undefined;
  });
}

function print(output: Output, { task, path, branch, what, inTheWay, ignored, notes }: Undone): void {
  output.line(`${undone[what]} ${task}, on ${branch === null ? 'no branch' : shown(branch)}`);
  output.line(`    cd ${shellWord(path)}`);
  const words = ignoredText(ignored);
  if (words !== undefined) output.line(`    restored from the trash: ${words}`);
  for (const note of notes) output.line(output.style('yellow', `    ${shown(note)}`));
  if (inTheWay.length > 0) {
    output.line('Other files have taken the place of these, which stay in the trash:');
    for (const file of inTheWay) output.line(`    ${shown(file)}`);
  }
  const next =
    what === 'removal' ? `copse cleanup ${task} # to remove it again` : `copse undo ${task} # to undo this`;
  printSteps(output, [next]);
}
