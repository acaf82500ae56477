import type { KeptTip, Rescue } from '../../../git/port.ts';
import type { TaskId, Timestamp } from '../../../kernel/ids.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import type { Access } from '../../access.ts';
import { keptTipView, rescueView } from '../../views/workspace-views.ts';
import { refuseElsewhere, requireTaskIdAmong } from '../task-of-worktree.ts';

interface Input {
  readonly task?: string | undefined;
}

export interface ListedRescues {
  readonly rescues: readonly Rescue[];
  /** Commits that are no longer on a branch. */
  readonly kept: readonly KeptTip[];
  readonly at: Timestamp;
}

export async function act(access: Access, { task: text }: Input): Promise<ListedRescues> {
  return access.workspaces(async (context) => {
    const [rescues, tips] = await Promise.all([context.rescues.list(), context.rescues.kept()]);
    const kept = await withoutLanded(context, tips);
    const known = [...rescues, ...kept].map(({ task }) => task);
    const task = text === undefined ? undefined : await requireTaskIdAmong(context, text, known);
    await refuseElsewhere(context, task);
    const at = context.clock.now();
    return { rescues: newestFirst(rescues, task), kept: newestFirst(kept, task), at };
  });
}

export function view({ rescues, kept }: ListedRescues) {
  return { rescues: rescues.map(rescueView), kept: kept.map(keptTipView) };
}

/** Without tips whose work has landed: that is on the target. */
async function withoutLanded(
  { board }: WorkspaceContext,
  tips: readonly KeptTip[],
): Promise<readonly KeptTip[]> {
  const left: KeptTip[] = [];
  for (const tip of tips) {
    const landings = await board.list('landing', { task: tip.task });
    if (!landings.some(({ head, state }) => head === tip.commit && state.status === 'landed')) left.push(tip);
  }
  return left;
}

interface Saved {
  readonly task: TaskId;
  readonly at: Timestamp;
}

function newestFirst<T extends Saved>(all: readonly T[], task: TaskId | undefined): readonly T[] {
  return all
    .filter((one) => task === undefined || one.task === task)
    .toSorted((one, other) => other.at - one.at);
}
