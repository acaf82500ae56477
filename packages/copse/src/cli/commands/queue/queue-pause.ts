import { withAccess } from '../../../compose/operations/access.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/queue/pause.ts';
import type { MergeQueue, QueueSwitch } from '../../../queue/rules/merge-queue.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly accept?: boolean;
  readonly land?: boolean;
  readonly reason?: string;
  readonly target?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const paused = await act(access, options);
    const { output } = cli;
    if (options.json) return output.json(view(paused));
    const { target, what, queue } = paused;
    const resume = `copse queue resume${options.target === undefined ? '' : ` --target ${shellWord(target)}`}`;
    output.line(`${output.style('yellow', 'Paused')} the queue of ${shown(target)}`);
    if (what.includes('land'))
      output.line(`    Nothing lands on ${shown(target)}. ${checksText(queue.runs.length)}`);
    if (what.includes('accept'))
      output.line(`    ${landsText(what, queue)}Tasks that join the queue now wait until ${resume}.`);
    printSteps(output, [`${resume} # to end the pause`]);
  });
}

function landsText(what: readonly QueueSwitch[], { paused }: Pick<MergeQueue, 'paused'>): string {
  if (what.includes('land')) return '';
  return paused.land === null ? 'Tasks in the queue still land. ' : 'Landing stays paused. ';
}

function checksText(checks: number): string {
  if (checks === 0) return 'No checks are started.';
  const running = checks === 1 ? 'The running check finishes' : `The ${checks} running checks finish`;
  return `${running}; no more are started.`;
}
