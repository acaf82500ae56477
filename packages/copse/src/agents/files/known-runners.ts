/** Attempts with files on this machine, and their processes, for processes that start no runner. */

import type { Runners } from '../ports/runners.ts';
import { attemptFiles, knownAttempts } from './attempt-files.ts';

export function knownRunners(home: string): Pick<Runners, 'known' | 'processesOf'> {
  return {
    known: async () => knownAttempts(home),
    processesOf: async (attempt) => {
      // Rarely needed, and most commands start faster without it.
      const { processesOfAttempt } = await import('../../processes/end.ts');
      return processesOfAttempt(attempt, attemptFiles(home, attempt).processes);
    },
  };
}
