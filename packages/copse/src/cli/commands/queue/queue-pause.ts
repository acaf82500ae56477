import { pauseQueue } from '../../../queue/act/control.ts';
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
  readonly reason?: string;
  readonly target?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const target = await requireTarget(context, options.target);
    const what: readonly QueueSwitch[] = [
      ...(options.accept ? (['accept'] as const) : []),
      ...(options.land || !options.accept ? (['land'] as const) : []),
    ];
    const queue = orFail(await pauseQueue(context, target, { what, reason: options.reason ?? null }));
    const { paused, runs } = queue;
    const { output } = cli;
    if (options.json) {
      const both = { accept: pausedView(paused.accept), land: pausedView(paused.land) };
      output.json({ target, paused: both });
      return;
    }
    output.line(`${output.style('yellow', 'Paused')} the queue of ${shown(target)}`);
    if (what.includes('land'))
      output.line(`    Nothing lands on ${shown(target)}. ${checksText(runs.length)}`);
    if (what.includes('accept'))
      output.line(
        '    Tasks in the queue still land. Tasks that join it from now on wait in it until you resume it.',
      );
    output.line(output.style('dim', '  → copse queue resume'));
  });
}

function checksText(checks: number): string {
  if (checks === 0) return 'No checks are started.';
  const running = checks === 1 ? 'The running check finishes' : `The ${checks} running checks finish`;
  return `${running}; no more are started.`;
}
