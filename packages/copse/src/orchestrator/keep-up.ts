/**
 * Work beside the passes of an orchestrator: a snapshot of the board at the start and daily, tending, which frees what
 * removed worktrees, killed processes and finished tasks leave behind, and sweeps. One step at a time.
 */

import type { SnapshotReason } from '../board/rules/snapshots.ts';
import type { RunContext } from '../queue/context.ts';
import type { TaskLeftovers } from '../workspaces/ports/leftovers.ts';
import { tidyShared } from '../workspaces/discard/drop-shared.ts';
import { finishRemovals, tidy } from '../workspaces/discard/tidy.ts';
import { type SweepMemory, maintain } from './maintain.ts';
import { needsTending, tend } from '../workspaces/act/tend.ts';

export interface KeepUpOptions {
  readonly leftovers: TaskLeftovers;
  readonly sweeps: SweepMemory;
  readonly signal: AbortSignal;
  /** A person stops the orchestrator: a sweep ends after the thing that it removes now. */
  readonly stopping: AbortSignal;
  readonly onProblem: (reason: string) => void;
}

export async function keepUp(context: RunContext, options: KeepUpOptions): Promise<void> {
  const { clock, policy } = context;
  const { signal, stopping, leftovers, sweeps: memory, onProblem: onSwept } = options;
  const attempt = trying(options);
  let reason: SnapshotReason = 'start';
  let copiedMs = -Infinity;
  let tidiedMs = -Infinity;
  let isStart = true;
  while (!signal.aborted) {
    if (clock.elapsedMs() - copiedMs >= policy.board.snapshotEveryMs) {
      copiedMs = clock.elapsedMs();
      await attempt('The board could not be backed up', () => backUp(context, reason, options));
      reason = 'daily';
    }
    await attempt('The trash could not be tended', async () => {
      // Looking is cheap; tending lists every file of the base.
      if (!(await needsTending(context, undefined))) return;
      const tended = await tend(context);
      for (const problem of [...(tended?.kept ?? []), ...(tended?.failed ?? [])]) throw new Error(problem);
    });
    // Last: tending takes the locks of tasks.
    await attempt('Leftovers could not be deleted', async () => {
      const problems = await tidy(context, leftovers);
      if (problems.length > 0) throw new Error(problems.join(' '));
    });
    await attempt('Leftovers in another repository could not be deleted', () => tidyElsewhere(context));
    await attempt('The sweep is not complete', () =>
      maintain(context, { leftovers, memory, signal: stopping, isStart, onSwept }),
    );
    isStart = false;
    if (clock.elapsedMs() - tidiedMs >= policy.travel.tidyEveryMs) {
      tidiedMs = clock.elapsedMs();
      await attempt('Snapshots on the remote could not be removed', () => tidyShared(context));
    }
    await clock.sleep(policy.maintenance.tendEveryMs, signal);
  }
}

/** Where agents with a `working_directory` work: removals that a kill ended are finished there too. */
async function tidyElsewhere({ elsewhere }: RunContext): Promise<void> {
  for (const root of elsewhere?.roots ?? []) {
    const other = await elsewhere?.at(root);
    if (other === undefined) continue;
    await finishRemovals(other);
    if (await needsTending(other, undefined)) await tend(other);
  }
}

async function backUp(
  { board, clock }: RunContext,
  reason: SnapshotReason,
  { onProblem }: KeepUpOptions,
): Promise<void> {
  const copy = await board.backUp(reason, clock.now());
  if (copy.kind === 'damaged')
    onProblem(
      `The board at ${board.location} is damaged, so no snapshot was kept: ${copy.problems[0] ?? ''}. Stop this orchestrator, then: copse board restore`,
    );
}

/** A full disk is reported once, and the next round tries again. */
function trying({ onProblem }: KeepUpOptions) {
  const told = new Map<string, string>();
  return async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (told.get(what) === reason) return;
      told.set(what, reason);
      onProblem(`${what}: ${reason}`);
    }
  };
}
