import { shown } from '../../domain/text.ts';
import { rescueView } from '../../protocol/workspace-views.ts';
import type { Invocation } from '../invocation.ts';
import { age } from '../render.ts';
import { requireTaskIdAmong, withWorkspaces } from '../with-workspaces.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word] = words;
  await withWorkspaces(cli, async (context) => {
    const all = await context.rescues.list();
    const known = all.map(({ task }) => task);
    const task = word === undefined ? undefined : await requireTaskIdAmong(context, word, known);
    const rescues = all
      .filter((one) => task === undefined || one.task === task)
      .toSorted((one, other) => other.at - one.at);
    if (options.json) {
      cli.output.json({ rescues: rescues.map(rescueView) });
      return;
    }
    const now = context.clock.now();
    for (const { ref, task: id, why, at, branch, changed } of rescues) {
      const where = branch === null ? 'no branch' : shown(branch);
      cli.output.line(`#${id} (${age(at, now)}) ${why}: ${changed} changed, on ${where}`);
      cli.output.line(cli.output.style('dim', `      ${shown(ref)}`));
    }
    if (rescues.length === 0) cli.output.line('Nothing was ever rescued here.');
  });
}
