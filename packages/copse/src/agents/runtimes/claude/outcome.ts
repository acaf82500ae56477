/** How a turn of Claude Code's command line ended, from what it said and from how its process ended. */

import type { ProgramEnd } from '../../../processes/ports/programs.ts';
import type { RuntimeOutcome } from '../../ports/runtime.ts';

/** A result counts only if the program ended as one that says so ends. */
export function outcomeOf(
  end: ProgramEnd,
  told: RuntimeOutcome | undefined,
  lastLines: readonly string[],
): RuntimeOutcome {
  const exitCode = end.kind === 'exited' ? end.code : null;
  if (told !== undefined && told.outcome !== 'crashed' && (told.outcome !== 'completed' || exitCode === 0))
    return told;
  const reason = [endReason(end), ...(told?.outcome === 'crashed' ? [told.reason] : []), ...lastLines];
  return { outcome: 'crashed', exitCode, reason: reason.join('\n') };
}

function endReason(end: ProgramEnd): string {
  switch (end.kind) {
    case 'exited':
      return end.code === 0
        ? 'Claude Code ended without a result'
        : `Claude Code ended with exit code ${end.code}`;
    case 'signalled':
      return `Claude Code was ended by ${end.signal}`;
    case 'vanished':
      return 'the terminal of Claude Code was closed';
    default:
      throw new Error(`A program cannot end by ${String(end satisfies never)}`);
  }
}
