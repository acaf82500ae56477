/** Errors of SQLite, explained to people. */

import { BoardUnavailable } from '../port.ts';

const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

export function isBusy(error: unknown): boolean {
  return codeOf(error) === BUSY;
}

/** Runs a call to SQLite; errors that a person can fix are explained. */
export function explaining<T>(file: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw explained(error, file);
  }
}

function explained(error: unknown, file: string): unknown {
  const message = error instanceof Error ? error.message : String(error);
  switch (codeOf(error)) {
    case NOTADB:
    case CORRUPT:
      return new BoardUnavailable(
        `The board at ${file} is damaged or not a board: ${message}.`,
        'copse board restore # puts back a snapshot, and keeps the present file aside',
        { cause: error },
      );
    case READONLY:
    case IOERR:
    case FULL:
      return new BoardUnavailable(
        `The board at ${file} is not writable; nothing was changed: ${message}.`,
        'copse doctor # after you check the free disk space and the permissions',
        { cause: error },
      );
    case CANTOPEN:
      return new BoardUnavailable(
        `The board at ${file} cannot be opened or created.`,
        'Check that its folder exists and is writable, and that the disk is not full.',
        { cause: error },
      );
    default:
      return error;
  }
}

/** The low byte is the error, the rest says which kind of it. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
