/** One board for many requests at once: a request closes it like its own, and the board stays open. */

import { over } from './over.ts';
import type { Board } from './port.ts';
import type { KeyedRequest } from './rules/keyed-request.ts';

/** Every transaction of a keyed request uses its key, or changes nothing. */
export function lentBoard(board: Board, keyed?: KeyedRequest): Board {
  return over<Board>(board, {
    close: () => Promise.resolve(),
    ...(keyed && {
      transact: (work) =>
        board.transact(async (transaction) => {
          if (!(await transaction.useKey(keyed))) throw new KeyTakenOver();
          return work(transaction);
        }),
    }),
  });
}

/** A later request with the same key carries it out. */
export class KeyTakenOver extends Error {
  override readonly name = 'KeyTakenOver';
}
