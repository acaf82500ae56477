import { whoUses } from '../../../compose/board/file.ts';
import { requireRepository } from '../../../compose/open.ts';
import { findTraces, openForRebuild } from '../../../compose/leftovers.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { rebuildBoard } from '../../../workspaces/discard/rebuild.ts';

interface Options {
  readonly empty?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const running = await whoUses(requireRepository(cli));
  if (running !== undefined)
    return fail(
      'wrong_status',
      `${running.text}, so the board cannot be rebuilt. Nothing was changed.`,
      ...running.stop,
    );
  const context = await openForRebuild(cli);
  try {
    const traces = options.empty ? [] : await findTraces(cli, context);
    const rebuilt = await rebuildBoard(context, traces);
    if (options.json) {
      const tasks = rebuilt.map(({ task, was }) => ({
        id: task.id,
        title: task.title,
        status: task.state.status,
        was,
      }));
      return cli.output.json({ found: traces.length, tasks });
    }
    cli.output.line(
      `Found traces of ${counted(traces.length, 'task')}; put back ${rebuilt.length} on ${shown(context.board.location)}`,
    );
    for (const { task, was } of rebuilt) {
      const before = was === null ? '' : ` (was ${was})`;
      cli.output.line(`  ${task.id} ${task.state.status}${before} ${shown(task.title)}`);
    }
    const [first] = rebuilt;
    if (first !== undefined)
      cli.output.line(
        `Titles come from commits and branches; each task names the facts that are lost: copse show ${first.task.id}`,
      );
  } finally {
    await Promise.all([context.git.close(), context.board.close()]);
  }
}
