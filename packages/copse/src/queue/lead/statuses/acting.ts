/** Status "acting": writes the state, starts and stops checks, hands back, and records why entries wait. */

import type { CommitId } from '../../../kernel/ids.ts';
import type { Rejection } from '../../rules/decide/decide.ts';
import type { Landing } from '../../rules/landing.ts';
import { explainRejection } from '../rejection.ts';
import { placeRuns, saveQueue } from '../save-queue.ts';
import { recordWaits } from '../waits.ts';
import { setAside } from './landing.ts';
import { LEAD_LOST, type Leading, type Status, type InStatus } from './status.ts';

export async function act(leading: Leading, { seen, plan, landed }: InStatus<'acting'>): Promise<Status> {
  const { context, lead, runs: checks, options, process } = leading;
  const { queue, landings, base } = seen;
  // A slot is free only once its abandoned check has ended.
  await checks.abandon(plan.abandon);
  const started = placeRuns(context, plan.start, { busy: checks.slots, process });
  const wanted = new Set(checks.wanted);
  const runs = [...queue.runs.filter(({ run }) => wanted.has(run)), ...started];
  // Written before they start: after a kill in between, the next leader finds checks that are not running.
  const saved = await saveQueue(context, lead, queue, { state: plan.state, runs, landings });
  if (saved === 'lead_lost') return LEAD_LOST;
  if (saved === 'saved')
    for (const { run, slot, commit } of started)
      checks.start({ run, slot, commit, tree: await options.memory.candidates.treeOf(commit) });
  for (const rejection of plan.handBack) await reject(leading, rejection, landings, base.onto);
  await recordWaits(context, lead, seen, plan, { isMoving: runs.length > 0 });
  return landed === null ? { kind: 'unchanged' } : { kind: 'changed', hasLanded: landed === 'landed' };
}

async function reject(
  leading: Leading,
  rejection: Rejection,
  landings: readonly Landing[],
  tip: CommitId,
): Promise<void> {
  const { context, options } = leading;
  const landing = landings.find(({ id }) => id === rejection.change.landing);
  if (landing === undefined) return;
  const misfit = options.memory.candidates.misfit(tip, rejection.change);
  if (misfit?.kind === 'failed') return setAside(leading, landings, rejection.change, misfit.detail);
  const cause = await explainRejection(context, landing, rejection, tip, options.memory);
  await options.onRejected(landing, { ...cause, isTimeout: rejection.because === 'timeout' }, tip);
}
