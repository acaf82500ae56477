/** Loads why a change cannot land: the conflict with both of its sides, or the output of the check that failed. */

import { unreachable } from '../../kernel/unreachable.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { Rejection } from '../rules/decide/decide.ts';
import { redText, revertsText, unfitText, unrelatedText } from '../../explain/rules/queue.ts';
import type { HandbackCause } from '../../tasks/rules/outcomes.ts';
import { causeOfConflict } from '../act/conflict-brief.ts';
import { describeUnsound } from '../act/find-unfit.ts';
import { methodFor } from './build-candidate.ts';
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
      const found = rejection.run === null ? undefined : memory.failures.get(rejection.run);
      const failure = found && { ...found, command: context.landing.checks[found.name]?.command };
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
  { candidates, conflicts, unsound }: QueueMemory,
): Promise<HandbackCause> {
  const problem = unsound.get(change.head);
  if (problem !== undefined) {
    const { task, head } = landing;
    const record = await context.board.get('task', task);
    const method = await methodFor(context, { session: record?.session ?? null });
    const reason = await describeUnsound(context, { task, onto, head, method }, problem);
    return { because: 'unfit', reason };
  }
  await candidates.find({ onto, changes: [change] });
  const misfit = candidates.misfit(onto, change);
  switch (misfit?.kind) {
    case 'reverts':
      return { because: 'conflict', reason: revertsText(landing, misfit.files), files: misfit.files };
    case 'unfit':
      return { because: 'unfit', reason: unfitText(landing, misfit.problems) };
    case 'failed':
      return { because: 'conflict', reason: misfit.detail };
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
