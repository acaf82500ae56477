/**
 * Attempts that are over on the board and still work in the main checkout: a person cancelled or paused them, and the agent
 * has not ended yet. What they write would count for the next agent there.
 */

import type { NodeId, TaskId } from '../../../kernel/ids.ts';
import type { Attempt } from '../../../tasks/rules/attempt.ts';
import type { BoardReader } from '../../../board/port.ts';
import type { Occupancy } from '../../../processes/ports/occupancy.ts';
import type { Runners } from '../../../agents/ports/runners.ts';

export type KnownRunners = Pick<Runners, 'known' | 'processesOf'>;

interface LeftContext {
  readonly board: Pick<BoardReader, 'get' | 'list'>;
  readonly node: NodeId;
  readonly occupancy: Pick<Occupancy, 'isAlive'>;
  readonly runners: KnownRunners;
}

/** Their tasks. The board has those that are in progress. */
export async function leftInCheckout(context: LeftContext): Promise<readonly TaskId[]> {
  const { board, node, runners } = context;
  const found = new Set<TaskId>();
  for (const id of await runners.known()) {
    const attempt = await board.get('attempt', id);
    if (!attempt?.end || attempt.node !== node || found.has(attempt.task)) continue;
    const last = (await board.list('workspace', { task: attempt.task })).findLast((one) => one.node === node);
    if (last?.strategy === 'static' && (await isWorking(context, attempt))) found.add(attempt.task);
  }
  return [...found];
}

/** A runner that recorded the end of its agent changes no more files, and is about to exit. */
async function isWorking({ occupancy, runners }: LeftContext, attempt: Attempt): Promise<boolean> {
  const { id, process: runner, end } = attempt;
  if (end?.reason !== 'completed' && runner !== null && (await occupancy.isAlive(runner))) return true;
  return (await runners.processesOf(id)).some(({ pid }) => pid !== runner?.pid);
}
