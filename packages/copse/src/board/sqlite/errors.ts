/** What SQLite's errors mean for a person. */

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

/** Runs a call to SQLite; whatever a person can do something about is said in words. */
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
        `The board at ${file} is damaged or is no board: ${message}.`,
        'Move it aside and restore it from an export: copse import <file>',
        { cause: error },
      );
    case READONLY:
    case IOERR:
    case FULL:
      return new BoardUnavailable(
        `The board at ${file} cannot be written, so nothing was changed: ${message}.`,
        'Check that the disk is not full and that you may write there: copse doctor',
        { cause: error },
      );
    case CANTOPEN:
      return new BoardUnavailable(
        `The board at ${file} cannot be opened or created.`,
        'Check that its folder exists, that you may write there and that the disk is not full.',
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
