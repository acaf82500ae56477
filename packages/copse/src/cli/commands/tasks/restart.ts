import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/tasks/restart.ts';
import { printStarted } from '../../after/task-changes.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly answer?: string;
  readonly command?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { answer, command } = options;
  await withAccess(cli, async (access) => {
    const restarted = await act(access, { task: words[0] ?? '', answer, command });
    if (options.json) return cli.output.json(view(restarted));
    await access.run((context) => printStarted(cli, context, { ...restarted, act: 'Restarted' }), {
      command,
    });
  });
}
