/** Schedules of a repository whose time has come. */

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { type ScheduleId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { RunOptions } from '../cli.ts';

/** An orchestrator set it an hour ago. */
export async function makeDue({ cwd }: Pick<RunOptions, 'cwd'>, id: string): Promise<void> {
  const { board, clock } = await openContext({ cwd, env: {} });
  const now = clock.now();
  const [agent, name] = id.split('/') as [never, string];
  const timing = { type: 'interval', everyMs: 3_600_000 } as const;
  const event = { id: brand<ScheduleId>(id), at: now, agent, name, timing, nextAt: timestamp(now - 1_000) };
  await board.transact((transaction) =>
    transaction.record({ kind: 'person', name: null }, [{ type: 'schedule.set', ...event }]),
  );
  await board.close();
}
