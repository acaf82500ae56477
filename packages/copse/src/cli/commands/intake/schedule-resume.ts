import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/intake/schedule-resume.ts';
import type { Invocation } from '../../invocation.ts';
import { nextText } from './schedule-list.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const resumed = await act(access, { schedule: words[0] ?? '' });
    if (options.json) return cli.output.json(view(resumed));
    const { known, at } = resumed;
    cli.output.line(`${known.id} resumed`);
    cli.output.line(cli.output.style('dim', `    ${nextText(known, at)}`));
  });
}
