/** Errors of PostgreSQL, explained to people. */

import { BoardUnavailable } from '../port.ts';

export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

const LOCK_TIMEOUT = '55P03';

/** Explains a lost connection or a lock timeout of any query. */
export function explainedLoss(error: unknown, location: string): unknown {
  const state = sqlState(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  if (state === LOCK_TIMEOUT) {
    return new BoardUnavailable(
      `Another process locked the board at ${location} for too long; nothing was changed.`,
      'Try again. If it stays locked, look for a stopped process that is connected to it.',
      { cause: error },
    );
  }
  const isLost = /^(57P0|08)/.test(state) || /^E(CONN|PIPE|TIMEDOUT)/.test(state) || LOST.test(message);
  if (!isLost) return error;
  return new BoardUnavailable(
    `The connection to the board at ${location} was lost: ${message}.`,
    'Check whether the change was recorded before you repeat it: copse events --last 5',
    { cause: error },
  );
}

/** Messages of the driver for errors without a code. */
const LOST = /connection (terminated|error)|not queryable|client was closed/i;

export function explained(error: unknown, location: string): unknown {
  if (error instanceof BoardUnavailable || !(error instanceof Error)) return error;
  // The driver's message names host and user but never the password.
  return new BoardUnavailable(
    `The board at ${location} cannot be reached: ${error.message === '' ? (sqlState(error) ?? error.name) : error.message}.`,
    'Check that PostgreSQL is running and that the address in COPSE_BOARD or copse.yml is right: copse doctor',
    { cause: error },
  );
}
