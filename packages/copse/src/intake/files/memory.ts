/** What this clone remembers of its sources, in `.copse/source-<name>.json`: the last look, the last problem, rate limits. */

import type { Timestamp } from '../../kernel/ids.ts';
import { openMemory } from '../../kernel/system/json-file.ts';
import type { SourceMemories, SourceMemory } from '../port.ts';

const NOTHING: SourceMemory = { syncedAt: null, problem: null, limit: null };

export function openSourceMemories(home: string): SourceMemories {
  const file = (source: string) =>
    // A source that a schedule defines is named agent/schedule.
    openMemory<Partial<SourceMemory>>(home, `source-${encodeURIComponent(source)}`);
  const load = (source: string) => ({ ...NOTHING, ...file(source).load() });
  const writes = openMemory<{ readonly at: Timestamp }>(home, 'sources');
  return {
    load,
    save: (source, change) => file(source).save({ ...load(source), ...change }),
    wroteAt: () => writes.load()?.at ?? null,
    wrote: (at) => writes.save({ at }),
  };
}
