import { openSweep } from '../../../compose/leftovers.ts';
import { sweepView } from '../../../operations/views/sweep-views.ts';
import { type Swept, previewSweep, sweep } from '../../../workspaces/sweep/sweep.ts';
import type { Invocation } from '../../invocation.ts';
import { sweepLines } from './sweep-text.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const context = await openSweep(cli);
  try {
    const done: Swept | undefined = options.dryRun
      ? { ...(await previewSweep(context, { isMeasured: true })), swept: [] }
      : await sweep(context, { isMeasured: true });
    if (done === undefined) {
      if (options.json) cli.output.json({ busy: true });
      else cli.output.line('Another process sweeps right now. To see what is left: copse sweep --dry-run');
      return;
    }
    const { swept, ...plan } = done;
    if (options.json) cli.output.json(sweepView(plan, options.dryRun ? null : swept));
    else {
      const { root } = context;
      const { dryRun: isDry = false, verbose: isVerbose = false } = options;
      for (const line of sweepLines(plan, { swept, root, isDry, isVerbose }, cli.output))
        cli.output.line(line);
    }
  } finally {
    await context.board.close();
  }
}
