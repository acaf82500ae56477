import { whyTask } from '../../../explain/why.ts';
import { splitRemark } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { taskView } from '../../../operations/views/views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { taskLine } from '../../screen/render.ts';
import { requireTaskOrHere } from '../workspaces/task-of-folder.ts';
import { isOrchestrated, withLook } from '../../../compose/look.ts';
import { printSteps } from '../../after/next-steps.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withLook(cli, async (context) => {
    const id = await requireTaskOrHere(context.board, cli, words[0]);
    const { task, because, next } = orFail(
      await whyTask(context, id, { isOrchestrated: await isOrchestrated(cli) }),
    );
    if (options.json) {
      cli.output.json({ task: taskView(task), because, next: next.map((step) => splitRemark(step).command) });
      return;
    }
    const { state: _, ...rest } = task;
    cli.output.line(taskLine({ ...rest, state: withoutReason(task.state) }, cli.output, context.clock.now()));
    for (const line of because) cli.output.line(`    ${shown(line).replaceAll('\n', '\n    ')}`);
    printSteps(cli.output, next);
  });
}

/** `because` has it in full. */
function withoutReason<T extends object>(state: T): T {
  if ('pullRequest' in state) return { ...state, pullRequest: null };
  return 'reason' in state ? { ...state, reason: '' } : state;
}
