/** The sweeps of an orchestrator: at its start and every few hours, by the plan that `copse sweep --dry-run` shows. */

import type { RunContext } from '../queue/context.ts';
import type { AgentName } from '../kernel/ids.ts';
import { BoardAway } from '../board/port.ts';
import { counted } from '../kernel/text.ts';
import type { TaskLeftovers } from '../workspaces/ports/leftovers.ts';
import { type LastSweeps, decideDueSweep } from '../workspaces/rules/sweep/due.ts';
import type { SweptItem } from '../workspaces/sweep/carry-out.ts';
import { sweep } from '../workspaces/sweep/sweep.ts';

/** Kept between orchestrators, so that a restart does not put a sweep off. */
export interface SweepMemory {
  load(): LastSweeps | undefined;
  save(last: LastSweeps): void;
}

export interface MaintainOptions {
  readonly leftovers: TaskLeftovers;
  readonly memory: SweepMemory;
  readonly signal: AbortSignal;
  readonly isStart: boolean;
  /** One sentence for each thing that was removed and can be missed. */
  readonly onSwept: (text: string) => void;
}

/** Throws what could not be removed; the next sweep tries again. */
export async function maintain(context: RunContext, options: MaintainOptions): Promise<void> {
  const { leftovers, memory, signal, isStart, onSwept } = options;
  const { clock, policy } = context;
  const now = clock.now();
  const last = memory.load() ?? null;
  const logFolders = leftovers.logs().length;
  const due = decideDueSweep({ isStart, last, now, logFolders }, policy.maintenance);
  if (due === null) {
    if (last === null) memory.save({ all: now, sessions: now });
    return;
  }
  const isAll = due.kinds.has('worktree');
  const save = () => memory.save({ all: isAll || last === null ? now : last.all, sessions: now });
  const sweeper = {
    ...context,
    leftovers,
    isOrchestrated: true,
    cleanupOnFailure: (agent: AgentName | null) => cleansUpOnFailure(context, agent),
  };
  const swept = await sweep(sweeper, { ...due, signal }).catch((error: unknown) => {
    // What fails as a whole would fail again in the next pass, so the next sweep tries it.
    if (!(error instanceof BoardAway)) save();
    throw error;
  });
  // Another process does it, and notes it.
  if (swept === undefined || signal.aborted) return;
  save();
  for (const one of swept.swept) if (one.fate.kind === 'removed') tell(one, onSwept);
  const failed = swept.swept.flatMap(({ item, fate }) =>
    fate.kind === 'failed' ? [`${item.name}: ${fate.reason}`] : [],
  );
  const [first] = failed;
  if (first !== undefined)
    throw new Error(
      `${counted(failed.length, 'thing')} could not be removed, first ${first} To see all: copse sweep`,
    );
}

export function cleansUpOnFailure({ agents, settings }: RunContext, agent: AgentName | null): boolean {
  const own = agents.find(({ name }) => name === agent);
  return (own?.workspace ?? settings).cleanup_on_failure;
}

function tell({ item, fate }: SweptItem, onSwept: (text: string) => void): void {
  const { kind } = item.found;
  if (fate.kind !== 'removed' || (kind !== 'worktree' && kind !== 'branch')) return;
  const kept = fate.keptUnder.length === 0 ? '' : ` Kept as ${fate.keptUnder.join(', ')}.`;
  onSwept(`Swept the ${kind} ${item.name}: ${item.verdict.why}.${kept}`);
}
