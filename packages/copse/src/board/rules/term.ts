/**
 * The term of a board counts the servers that had it, one after another. After an asynchronous failover, or from a backup, a
 * server may lack the last events, and with them fencing tokens that were given out. So its first writer begins a term, and
 * every token grows by a step: no token of before is given out twice.
 *
 * A cursor of a follower is (term, number): numbers of a lost end are used again for other events.
 */

import type { FencingToken, Timestamp } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';

export interface BoardTerm {
  readonly term: number;
  /** The last event that the server had when the term began. */
  readonly after: number;
  readonly at: Timestamp;
}

/** Of a board in a file, which is never behind itself. */
export const onlyTerm: BoardTerm = { term: 1, after: 0, at: 0 as Timestamp };

export interface Cursor {
  readonly term: number;
  readonly number: number;
}

export interface LostEvents {
  readonly term: number;
  readonly from: number;
  readonly to: number;
}

/** Where a follower goes on, and which events that it saw the board no longer has. Terms: oldest first. */
export function moveOn(
  cursor: Cursor,
  terms: readonly BoardTerm[],
): { readonly cursor: Cursor; readonly lost: LostEvents | null } {
  const later = terms.filter(({ term }) => term > cursor.term);
  const term = later.at(-1)?.term ?? cursor.term;
  const number = Math.min(cursor.number, ...later.map(({ after }) => after));
  const lost = number < cursor.number ? { term, from: number + 1, to: cursor.number } : null;
  return { cursor: { term, number }, lost };
}

/** Where a follower begins that names a cursor. One beyond the end is of a board that was replaced: its end is lost. */
export function beginAfter(
  after: { readonly term: number | undefined; readonly number: number },
  end: Cursor,
): { readonly cursor: Cursor; readonly lost: LostEvents | null } {
  const { term, number } = end;
  // A term that the board never had would keep its holder from hearing of the next ones.
  const known = Math.min(after.term ?? term, term);
  const isBeyond = after.number > number && known === term;
  if (!isBeyond) return { cursor: { term: known, number: after.number }, lost: null };
  return { cursor: end, lost: { term, from: number + 1, to: after.number } };
}

/** As events carry it, `1:42`. */
export function cursorText({ term, number }: Cursor): string {
  return `${term}:${number}`;
}

/** `12`, or `1:12` with the term. */
export function parseCursor(
  text: string,
): { readonly term: number | undefined; readonly number: number } | undefined {
  const match = /^(?:(\d{1,9}):)?(\d{1,15})$/.exec(text);
  if (match === null) return undefined;
  const [, term, number] = match;
  return { term: term === undefined ? undefined : Number(term), number: Number(number) };
}

export function lostText({ term, from, to }: LostEvents): string {
  const what = from === to ? `event ${from} is` : `events ${from} to ${to} are`;
  return `The board was replaced by one that lacks the end (term ${term}): ${what} lost; numbers go on from ${from}.`;
}

export function raised(token: FencingToken): FencingToken {
  return (token + limits.tokenStep) as FencingToken;
}

/** What a server of PostgreSQL promises about failovers. */
export interface BoardServer {
  readonly term: BoardTerm;
  /** Null: the server does not tell which one it is, so that a failover cannot be noticed. */
  readonly identity: string | null;
  /** A commit is confirmed only when a standby has it too. */
  readonly isSynchronous: boolean;
  readonly standbys: number;
}
