/** What the acts of this room get: the board and the ports. */

import type { MergeMethod } from '../../queue/rules/landing.ts';
import { type AgentName, type BranchName, type NodeId, type TaskId, brand } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Workspace } from '../rules/workspace.ts';
import type { BoardReader } from '../../board/port.ts';
import type { MainCheckout, Diffs, Sync } from '../ports/worktrees.ts';
import type { Disk, Furnishing, PortProbe } from '../ports/furnishing.ts';
import type { Git, Rescues } from '../../git/port.ts';
import type { Occupancy } from '../../processes/ports/occupancy.ts';
import type { KnownRunners } from './checkout/left-in-checkout.ts';
import type { Pool } from '../ports/pool.ts';
import type { TrashClockMemory } from '../sweep/trash-time.ts';
import type { Trash } from '../ports/trash.ts';
import type { WorkspaceSettings } from '../../config/workspace.ts';
import type { Context } from '../../board/context.ts';

export interface WorkspaceContext extends Context {
  readonly git: Git;
  readonly rescues: Rescues;
  readonly pool: Pool;
  readonly sync: Sync;
  readonly diffs: Diffs;
  readonly checkout: MainCheckout;
  readonly trash: Trash;
  readonly furnishing: Furnishing;
  readonly occupancy: Occupancy;
  readonly runners: KnownRunners;
  readonly portProbe: PortProbe;
  readonly disk: Disk;
  readonly node: NodeId;
  /** The main checkout; for a bare repository, the folder its worktrees are beside. */
  readonly root: string;
  /** The folder that holds the worktrees. */
  readonly worktreeFolder: string;
  /** Its git directory, or null for a bare repository. */
  readonly mainGitDir: string | null;
  /** Where `.copse/` is. */
  readonly home: string;
  readonly settings: WorkspaceSettings;
  /** Those of an agent of copse.yml; undefined if it has none of that name. */
  readonly settingsOf: (agent: AgentName) => Promise<WorkspaceSettings | undefined>;
  /** The branch that work begins from and lands on, where copse.yml names one. */
  readonly target: string | undefined;
  /** How branches land. */
  readonly method?: MergeMethod;
  /** By which the trash grows old; absent: by the machine's clock alone. */
  readonly trashClock?: TrashClockMemory | undefined;
}

/** The workspace of a task on this machine; undefined if there is none or it was released. */
export async function workspaceOf(
  { board, node }: { readonly board: BoardReader; readonly node: NodeId },
  task: TaskId,
): Promise<Workspace | undefined> {
  const all = await board.list('workspace', { task });
  return all.findLast((one) => one.node === node && one.disposition.is !== 'released');
}

/** Its last branch on this machine, also after its worktree was removed; null when it had none. */
export async function lastBranchHere(
  { board, node }: { readonly board: BoardReader; readonly node: NodeId },
  task: TaskId,
): Promise<{
  readonly branch: BranchName;
  readonly target: BranchName;
  readonly isWorktreeHere: boolean;
} | null> {
  const all = await board.list('workspace', { task });
  const last = all.findLast((one) => one.node === node && one.worktree !== null);
  if (!last?.worktree) return null;
  const { branch, baseBranch: target } = last.worktree;
  return { branch, target, isWorktreeHere: last.disposition.is !== 'released' };
}

/** The agent's name under which a person's work by hand is claimed. */
export function personName({ by }: Context): AgentName {
  return brand((by.kind === 'person' ? by.name : null) ?? 'person');
}

/** Whether the person who asks has the task. The flag decides, because an agent may have any name. */
export function isHeldByHand(
  context: Context & Pick<WorkspaceContext, 'node'>,
  { state }: Pick<Task, 'state'>,
): boolean {
  if (state.status !== 'in_progress' || !state.claim.isByHand) return false;
  return state.claim.node === context.node && state.claim.agent === personName(context);
}
