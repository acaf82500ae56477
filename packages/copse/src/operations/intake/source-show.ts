import { itemsOf } from '../../intake/act/sync.ts';
import type { Source, SourceMemory } from '../../intake/port.ts';
import type { Item } from '../../intake/rules/item.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { itemView, sourceView } from '../views/source-views.ts';
import { requireSource } from './find.ts';

interface Input {
  readonly source: string;
}

interface ShownSource {
  readonly source: Source;
  readonly memory: SourceMemory;
  readonly items: readonly Item[];
  readonly statuses: ReadonlyMap<TaskId, TaskStatus>;
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<ShownSource> {
  return access.run(async (context) => {
    const source = requireSource(context, input.source);
    const items = await itemsOf(context, source.name);
    return {
      source,
      memory: context.sourceMemories.load(source.name),
      items,
      statuses: await context.board.statuses(items.map(({ task }) => task)),
      at: context.clock.now(),
    };
  });
}

export function view({ source, memory, items, statuses }: ShownSource) {
  return {
    ...sourceView(source, memory, items.length),
    items: items.map((item) => itemView(item, statuses.get(item.task))),
  };
}
