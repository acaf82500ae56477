import type { BoardTransaction } from '../../board/port.ts';

/** The first of the draws that was never used, not even by something that is gone: branches may still carry it. */
export async function unusedId<T extends string>(board: BoardTransaction, draws: Iterable<T>): Promise<T> {
  for (const id of draws) {
    if (!(await board.wasUsed(id))) return id;
  }
  throw new Error('Every id that was drawn has been used before');
}
