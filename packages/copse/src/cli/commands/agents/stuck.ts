import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/agents/stuck.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';
import { noticesTo } from './report-here.ts';
import { printSteps } from '../../after/next-steps.ts';

interface Options {
  readonly reason?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const reason = await reasonFrom(cli, options);
  await withAccess(
    cli,
    async (access) => {
      const reported = await act(access, { task: words[0], reason });
      if (options.json) cli.output.json(view(reported));
      else tell(cli, reported);
    },
    noticesTo(cli),
  );
}

function tell({ output }: Cli, { task, isDone }: Awaited<ReturnType<typeof act>>): void {
  if (isDone) {
    output.line(`${task} is stuck: it waits for a person's decision.`);
    printSteps(output, [
      `copse restart ${task} --answer "…"`,
      `copse work ${task} --resume # to continue by hand`,
    ]);
  } else {
    output.line(`Reported ${task} as stuck.`);
    output.line(
      'Stop now and leave the worktree as it is. A person reads the reason, and the task continues with the answer.',
    );
  }
}

async function reasonFrom(cli: Invocation['cli'], { reason }: Options): Promise<string> {
  if (reason === undefined) {
    return fail(
      'invalid',
      '--reason is missing: say what only a person can decide.',
      'copse stuck --reason "…"',
    );
  }
  return reason === '-' ? readInput(cli, '-') : reason;
}
