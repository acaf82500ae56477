/** Why a change is handed back, in words for whoever has to mend it. */

import { unreachable } from '../../kernel/unreachable.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { Blame } from '../rules/decide/decide.ts';
import type { HandbackCause } from '../../tasks/rules/outcomes.ts';
import { listed, shown } from '../../kernel/text.ts';
import type { Candidate } from '../ports/merging.ts';
import { causeOfConflict } from '../act/conflict-brief.ts';
import type { QueueMemory } from './memory.ts';
import type { RunContext } from '../context.ts';

export async function explainBlame(
  context: RunContext,
  landing: Landing,
  blame: Blame,
  tip: CommitId,
  memory: QueueMemory,
): Promise<HandbackCause> {
  switch (blame.because) {
    case 'conflict': {
      await memory.candidates.find({ onto: tip, changes: [blame.change] });
      const misfit = memory.candidates.misfit(tip, blame.change);
      const files = memory.conflicts.get(`${tip} ${landing.head}`) ?? [];
      return explainMisfit(
        context,
        landing,
        tip,
        misfit ?? { built: false, because: 'conflict', files, theirs: [] },
      );
    }
    case 'red':
    case 'timeout':
      return explainRed(landing, blame, memory);
    default:
      return unreachable(blame.because);
  }
}

function explainRed({ task, target }: Landing, { because, run }: Blame, memory: QueueMemory): HandbackCause {
  const failure = run === null ? undefined : memory.failures.get(run);
  const what = because === 'timeout' ? 'took too long' : 'failed';
  const head = `The checks of ${task}, merged into ${shown(target)}, ${what} twice.`;
  if (failure === undefined) return { because: 'checks', reason: head };
  const { name, reason, log, tail } = failure;
  const lines = [
    head,
    `${name}: ${reason}`,
    ...(tail.trim() === '' ? [] : ['', tail.trimEnd(), '']),
    ...(log === null ? [] : [`All of its output: ${log}`]),
  ];
  return { because: 'checks', reason: lines.join('\n') };
}

async function explainMisfit(
  context: RunContext,
  { task, target, head }: Landing,
  onto: CommitId,
  candidate: Extract<Candidate, { built: false }>,
): Promise<HandbackCause> {
  switch (candidate.because) {
    case 'conflict': {
      return causeOfConflict(context, { task, target }, { onto, head }, candidate.files);
    }
    case 'reverts': {
      const reason = [
        `A merge on the branch of ${task} takes back what others landed on ${shown(target)}:`,
        listed(candidate.files),
        'Merge again so that their changes stay, and finish again.',
      ].join('\n');
      return { because: 'conflict', reason, files: candidate.files };
    }
    case 'unrelated':
      return {
        because: 'conflict',
        reason: `The branch of ${task} and ${shown(target)} have no commit in common.`,
      };
    default:
      return unreachable(candidate);
  }
}
