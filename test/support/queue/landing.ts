/** Leads a queue for one task, and tells every step: of the landing, and of what the merging does between two of them. */

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { lead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { leadQueue } from '../../../packages/copse/src/queue/lead/lead-queue.ts';
import { newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';

export interface LandingOrders {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly task: string;
  readonly onStep: (step: string) => void;
}

/** Undefined when the task is in no queue. */
export async function landOne({ cwd, env, task, onStep }: LandingOrders): Promise<unknown> {
  const opened = await openRun({ cwd, env }, { asNode: true });
  // The same engine, but for what it tells.
  const merging = openMerging(openTrustedDir(findRepository(cwd)!), { onStep });
  try {
    const context = { ...opened.context, merging };
    const landing = (await context.board.openLandings()).find((one) => one.task === task);
    if (landing === undefined) return undefined;
    const news: unknown[] = [];
    await lead(context, landing.target, (lead) =>
      leadQueue(context, lead, {
        memory: newQueueMemory(context),
        signal: new AbortController().signal,
        only: new Set([brand<TaskId>(task)]),
        onLanded: (landed) => news.push(landed),
        onRejected: async (_, cause) => void news.push({ kind: 'conflicts', cause }),
        onNote: () => {},
        onStep,
      }),
    );
    return news[0] ?? { kind: 'nothing' };
  } finally {
    await merging.close();
    await opened.close();
  }
}
