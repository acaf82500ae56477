import { itemsOf } from '../../../intake/act/sync.ts';
import { sourceView } from '../../../operations/views/source-views.ts';
import { counted, shown } from '../../../kernel/text.ts';
import type { Invocation } from '../../invocation.ts';
import { withRun } from '../../with-run.ts';
import { lastLookText } from './source-text.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const { sources, sourceMemories, clock } = context;
    const all = await Promise.all(
      sources.map(async (source) => ({
        source,
        items: await itemsOf(context, source.name),
        memory: sourceMemories.load(source.name),
      })),
    );
    if (options.json)
      return cli.output.json({
        sources: all.map(({ source, items, memory }) => sourceView(source, memory, items.length)),
      });
    if (all.length === 0) {
      cli.output.line('copse.yml has no sources.');
      cli.output.line('  → copse help sources list');
      return;
    }
    const width = Math.max(...all.map(({ source }) => source.name.length));
    for (const { source, items, memory } of all) {
      const count = counted(items.length, 'item');
      cli.output.line(
        `${source.name.padEnd(width)}  ${source.type.padEnd(8)}  ${count}  ${shown(source.place)}`,
      );
      const text = lastLookText(memory, clock.now());
      const style = memory.problem === null ? 'dim' : 'yellow';
      cli.output.line(`${' '.repeat(width)}  ${cli.output.style(style, text)}`);
    }
  });
}
