/** What `copse sources --json` prints. */

import type { SyncedStep } from '../../intake/act/sync.ts';
import type { Source, SourceMemory } from '../../intake/port.ts';
import type { Item } from '../../intake/rules/item.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';

const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function sourceView(source: Source, memory: SourceMemory, items: number) {
  const { name, type, place, intervalMs, onClosed, onlyFrom } = source;
  return {
    name,
    type,
    place,
    intervalMs,
    onClosed,
    onlyFrom,
    items,
    syncedAt: time(memory.syncedAt),
    problem: memory.problem,
    rateLimit: memory.limit && { remaining: memory.limit.remaining, until: time(memory.limit.until) },
  };
}

export function itemView(item: Item, status: TaskStatus | undefined) {
  return {
    source: item.source,
    id: item.item,
    title: item.title,
    url: item.url,
    task: item.task,
    status: status ?? null,
    by: item.by,
    isClosed: item.isClosed,
    changedUpstreamAt: time(item.changedAt),
    report: item.report && { ...item.report, at: time(item.report.at) },
  };
}

export function stepView({ step, task, why }: SyncedStep) {
  const id = 'seen' in step ? step.seen.id : step.item.item;
  return { step: step.kind, item: id, task, why };
}
