import { resumeQueue } from '../../../queue/act/control.ts';
import type { QueueSwitch } from '../../../queue/rules/merge-queue.ts';
import { shown } from '../../../kernel/text.ts';
import { pausedView } from '../../../operations/views/queue-views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { requireTarget } from './queue-target.ts';
import { withRun } from '../../with-run.ts';

interface Options {
  readonly accept?: boolean;
  readonly land?: boolean;
  readonly target?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const target = await requireTarget(context, options.target);
    const both: readonly QueueSwitch[] = ['accept', 'land'];
    const named = both.filter((one) => options[one]);
    const queue = orFail(await resumeQueue(context, target, named.length === 0 ? both : named));
    const { accept, land } = queue.paused;
    const { output } = cli;
    if (options.json) {
      output.json({ target, paused: { accept: pausedView(accept), land: pausedView(land) } });
      return;
    }
    output.line(`${output.style('cyan', 'Resumed')} the queue of ${shown(target)}`);
    if (accept !== null) output.line('    It still accepts no tasks: copse queue resume --accept');
    if (land !== null) output.line('    It still lands nothing: copse queue resume --land');
  });
}
