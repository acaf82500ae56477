/** What this clone remembers of its sources, in `.copse/source-<name>.json`: the last look, the last problem, rate limits. */

import { openMemory } from '../../kernel/system/json-file.ts';
import type { SourceMemories, SourceMemory } from '../port.ts';

const NOTHING: SourceMemory = { syncedAt: null, problem: null, limit: null };

export function openSourceMemories(home: string): SourceMemories {
  const file = (source: string) => openMemory<Partial<SourceMemory>>(home, `source-${source}`);
  const load = (source: string) => ({ ...NOTHING, ...file(source).load() });
  return { load, save: (source, change) => file(source).save({ ...load(source), ...change }) };
}
