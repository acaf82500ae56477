import { withAccess } from '../../../compose/operations/access.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/intake/source-list.ts';
import type { Invocation } from '../../invocation.ts';
import { lastLookText } from './source-text.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const listed = await act(access);
    if (options.json) return cli.output.json(view(listed));
    const { sources: all, at } = listed;
    if (all.length === 0) {
      cli.output.line('copse.yml has no sources.');
      cli.output.line('  → copse help sources list');
      return;
    }
    const width = Math.max(...all.map(({ source }) => source.name.length));
    for (const { source, items, memory } of all) {
      const count = counted(items, 'item');
      cli.output.line(
        `${source.name.padEnd(width)}  ${source.type.padEnd(8)}  ${count}  ${shown(source.place)}`,
      );
      const text = lastLookText(memory, at);
      const style = memory.problem === null ? 'dim' : 'yellow';
      cli.output.line(`${' '.repeat(width)}  ${cli.output.style(style, text)}`);
    }
  });
}
