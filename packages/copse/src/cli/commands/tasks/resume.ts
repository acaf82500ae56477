import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/tasks/resume.ts';
import { printStarted } from '../../after/task-changes.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly message?: string;
  readonly command?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { message, command } = options;
  await withAccess(cli, async (access) => {
    const resumed = await act(access, { task: words[0] ?? '', message, command });
    if (options.json) return cli.output.json(view(resumed));
    await access.run((context) => printStarted(cli, context, { ...resumed, act: 'Resumed' }), { command });
  });
}
