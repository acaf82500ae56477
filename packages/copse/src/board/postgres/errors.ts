/** What PostgreSQL's errors mean for a person. */

import { BoardUnavailable } from '../port.ts';

export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

const LOCK_TIMEOUT = '55P03';

/** A lost connection or a lock that nobody gives back is told in words, whichever query meets it. */
export function explainedLoss(error: unknown, location: string): unknown {
  const state = sqlState(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  if (state === LOCK_TIMEOUT) {
    return new BoardUnavailable(
      `The board at ${location} was held by somebody else for too long, so nothing was changed.`,
      'Try again; if it stays so, look for a stopped process that is connected to it.',
      { cause: error },
    );
  }
  const isLost = /^(57P0|08)/.test(state) || /^E(CONN|PIPE|TIMEDOUT)/.test(state) || LOST.test(message);
  if (!isLost) return error;
  return new BoardUnavailable(
    `The connection to the board at ${location} was lost: ${message}.`,
    'Look whether the change was made before making it again: copse events --last 5',
    { cause: error },
  );
}

/** What the driver says when there is no code to go by. */
const LOST = /connection (terminated|error)|not queryable|client was closed/i;

export function explained(error: unknown, location: string): unknown {
  if (error instanceof BoardUnavailable || !(error instanceof Error)) return error;
  // The driver's message names host and user but never the password.
  return new BoardUnavailable(
    `The board at ${location} cannot be reached: ${error.message === '' ? (sqlState(error) ?? error.name) : error.message}.`,
    'Check that PostgreSQL runs there and that the address in COPSE_BOARD or copse.yml is right: copse doctor',
    { cause: error },
  );
}
