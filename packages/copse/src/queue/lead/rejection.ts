/** Loads why a change cannot land: the conflict with both of its sides, or the output of the check that failed. */

import { unreachable } from '../../kernel/unreachable.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { Rejection } from '../rules/decide/decide.ts';
import { redText, revertsText, unrelatedText } from '../../explain/rules/queue.ts';
import type { HandbackCause } from '../../tasks/rules/outcomes.ts';
import { causeOfConflict } from '../act/conflict-brief.ts';
import type { QueueMemory } from './memory.ts';
import type { RunContext } from '../context.ts';

export async function explainRejection(
  context: RunContext,
  landing: Landing,
  rejection: Rejection,
  tip: CommitId,
  memory: QueueMemory,
): Promise<HandbackCause> {
  switch (rejection.because) {
    case 'conflict':
      return explainConflict(context, landing, rejection, tip, memory);
    case 'red':
    case 'timeout': {
      const failure = rejection.run === null ? undefined : memory.failures.get(rejection.run);
      const isTimeout = rejection.because === 'timeout';
      return { because: 'checks', reason: redText(landing, { isTimeout, failure }) };
    }
    default:
      return unreachable(rejection.because);
  }
}

async function explainConflict(
  context: RunContext,
  landing: Landing,
  { change }: Rejection,
  onto: CommitId,
  { candidates, conflicts }: QueueMemory,
): Promise<HandbackCause> {
  await candidates.find({ onto, changes: [change] });
  const misfit = candidates.misfit(onto, change);
  switch (misfit?.kind) {
    case 'reverts':
      return { because: 'conflict', reason: revertsText(landing, misfit.files), files: misfit.files };
    case 'unrelated':
      return { because: 'conflict', reason: unrelatedText(landing) };
    case 'conflict':
    case undefined: {
      const { task, target, head } = landing;
      const files = misfit?.files ?? conflicts.get(`${onto} ${head}`) ?? [];
      return causeOfConflict(context, { task, target }, { onto, head }, files);
    }
    default:
      return unreachable(misfit);
  }
}
