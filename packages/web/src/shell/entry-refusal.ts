import { Problem } from '../api/problem.ts';

/** Why a person is not let in, for the page that asks for a code. */
export function entryRefusal(error: unknown): string {
  if (error instanceof Problem && error.status === 401)
    return 'This code was used already, or is too old. Each start of the server prints a new one.';
  // A request that got no answer at all.
  if (error instanceof TypeError) return 'The server cannot be reached. Start it with: copse serve --open';
  return error instanceof Error ? error.message : String(error);
}
