/** Whether a landing was undone, and by which task: an undo that was undone counts as none. */

import type { LandingId, TaskId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import { type Undoing, undoneBy } from '../rules/undo-landing.ts';
import type { BoardReader } from '../../board/port.ts';

export async function loadUndoing(
  board: BoardReader,
  task: TaskId,
  landings: readonly Landing[],
): Promise<ReadonlyMap<LandingId, Undoing>> {
  const ledger = await board.list('ledger', { task });
  const undoings = new Map<LandingId, Undoing>();
  for (const { id } of landings) {
    const by = undoneBy(ledger, id);
    undoings.set(id, by === undefined ? { kind: 'none' } : await howFar(board, by));
  }
  return undoings;
}

/** For the latest landing of a task. */
export async function undoingOf(board: BoardReader, task: TaskId): Promise<Undoing> {
  const landed = await landingsOf(board, task);
  const last = landed.at(-1);
  if (last === undefined) return { kind: 'none' };
  return (await loadUndoing(board, task, [last])).get(last.id) ?? { kind: 'none' };
}

export async function landingsOf(board: BoardReader, task: TaskId): Promise<readonly Landing[]> {
  return (await board.list('landing', { task })).filter(({ state }) => state.status === 'landed');
}

async function howFar(board: BoardReader, by: TaskId): Promise<Undoing> {
  const state = (await board.get('task', by))?.state;
  if (state === undefined || state.status === 'cancelled') return { kind: 'none' };
  if (state.status !== 'done') return { kind: 'begun', by, status: state.status };
  const again = await undoingOf(board, by);
  return again.kind === 'undone' ? { kind: 'none' } : { kind: 'undone', by };
}
