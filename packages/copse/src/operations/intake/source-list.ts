import { itemsOf } from '../../intake/act/sync.ts';
import type { Source, SourceMemory } from '../../intake/port.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { sourceView } from '../views/source-views.ts';

interface ListedSources {
  readonly sources: readonly {
    readonly source: Source;
    readonly memory: SourceMemory;
    /** How many of its items are tasks. */
    readonly items: number;
  }[];
  readonly at: Timestamp;
}

export async function act(access: Access): Promise<ListedSources> {
  return access.run(async (context) => ({
    sources: await Promise.all(
      context.sources.map(async (source) => ({
        source,
        memory: context.sourceMemories.load(source.name),
        items: (await itemsOf(context, source.name)).length,
      })),
    ),
    at: context.clock.now(),
  }));
}

export function view({ sources }: ListedSources) {
  return { sources: sources.map(({ source, memory, items }) => sourceView(source, memory, items)) };
}
