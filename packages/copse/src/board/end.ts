/** The last event of the board, with its term. */

import type { Board } from './port.ts';
import type { BoardTerm, Cursor } from './rules/term.ts';

export interface BoardEnd {
  readonly terms: readonly BoardTerm[];
  readonly cursor: Cursor;
}

/** The terms first: events of a later one come with a later number, and a follower tells of it. */
export async function loadEnd(board: Pick<Board, 'terms' | 'lastEvent'>): Promise<BoardEnd> {
  const terms = await board.terms();
  return { terms, cursor: { term: terms.at(-1)?.term ?? 1, number: await board.lastEvent() } };
}
