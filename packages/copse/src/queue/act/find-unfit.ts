/** Why a branch could not land on any machine: for the finish gate, and for the queue. */

import type { CommitId, TaskId } from '../../kernel/ids.ts';
import type { MergeMethod } from '../rules/landing.ts';
import { unfitText, unsoundText } from '../../explain/rules/queue.ts';
import type { RunContext } from '../context.ts';

interface Submitted {
  readonly task: TaskId;
  readonly onto: CommitId;
  readonly head: CommitId;
  readonly method: MergeMethod;
}

/** A sentence with the files or commits; null when nothing is wrong. */
export async function findUnfit(
  context: Pick<RunContext, 'merging'>,
  submitted: Submitted,
): Promise<string | null> {
  const { task, onto, head, method } = submitted;
  const problem = (await context.merging.examine(onto, [head])).get(head);
  if (problem !== undefined) return describeUnsound(context, submitted, problem);
  const { unfit } = await context.merging.trial(onto, head, method);
  return unfit.length === 0 ? null : unfitText({ task }, unfit);
}

/** By the names of the files where those are the fault: git fsck names only the folder's object. */
export async function describeUnsound(
  { merging }: Pick<RunContext, 'merging'>,
  { task, onto, head, method }: Submitted,
  problem: string,
): Promise<string> {
  const tried = await merging.trial(onto, head, method).catch(() => undefined);
  return tried === undefined || tried.unfit.length === 0
    ? unsoundText({ task }, problem)
    : unfitText({ task }, tried.unfit);
}
