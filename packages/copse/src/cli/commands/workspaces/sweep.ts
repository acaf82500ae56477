import { withAccess } from '../../../compose/operations/access.ts';
import * as preview from '../../../operations/worktrees/preview-sweep.ts';
import * as sweep from '../../../operations/worktrees/sweep.ts';
import type { Invocation } from '../../invocation.ts';
import { sweepLines } from './sweep-text.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { output } = cli;
  const { dryRun: isDry = false, verbose: isVerbose = false } = options;
  await withAccess(cli, async (access) => {
    if (isDry) {
      const planned = await preview.act(access, {});
      if (options.json) return output.json(preview.view(planned));
      const text = { swept: [], root: planned.root, isDry, isVerbose };
      for (const line of sweepLines(planned.plan, text, output)) output.line(line);
      return;
    }
    const done = await sweep.act(access);
    if (options.json) return output.json(sweep.view(done));
    const { root, swept: plan } = done;
    if (plan === undefined)
      return output.line('Another process sweeps right now. To see what is left: copse sweep --dry-run');
    for (const line of sweepLines(plan, { swept: plan.swept, root, isDry, isVerbose }, output))
      output.line(line);
  });
}
