import { withAccess } from '../../../compose/operations/access.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { act, view } from '../../../operations/agents/finish.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';

interface Options {
  /** False with `--no-changes`. */
  readonly changes?: boolean;
  readonly summary?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { summary, changes = true } = options;
  await withAccess(cli, async (access) => {
    const finished = await act(access, { task: words[0], noChanges: !changes, summary });
    if (options.json) return cli.output.json(view(finished));
    if (finished.kind === 'reported') return tellReported(cli, finished);
    const { task, at } = finished;
    cli.output.line(taskLine(task, cli.output, at));
    await access.workspaces((context) => printAhead(cli, context, task));
  });
}

function tellReported(
  { output }: Cli,
  { task, noChanges }: { readonly task: TaskId; readonly noChanges: boolean },
): void {
  output.line(`Reported ${task} as finished${noChanges ? ', with nothing to change' : ''}.`);
  output.line(
    'Stop now. When your process has ended, Copse checks the work, then lands it, or tells you what to fix.',
  );
}
