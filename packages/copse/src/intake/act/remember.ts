/** What this clone remembers of the last look at a source. */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import type { RunContext } from '../../queue/context.ts';
import type { SourceProblem } from '../port.ts';

/** For `copse sources list`, which is another process. */
export function remember(
  { clock, sourceMemories }: RunContext,
  name: string,
  problem: SourceProblem | null,
  isSync: boolean,
): void {
  const syncedAt: Timestamp = timestamp(clock.now());
  const { limit } = sourceMemories.load(name);
  const until = problem?.until ?? null;
  sourceMemories.save(name, {
    problem: problem?.reason ?? null,
    limit: until === null ? limit && { ...limit, until: null } : { remaining: limit?.remaining ?? 0, until },
    ...(isSync && problem === null && { syncedAt }),
  });
}
