/**
 * Saving content that no ref keeps, before a worktree is moved, reset or removed. A snapshot that fails throws, so that the
 * step after it does not happen.
 */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import { isBeyondLimits } from '../../kernel/unavailable.ts';
import type { Git, Rescues, SnapshotRequest } from '../../git/port.ts';

interface Ports {
  readonly git: Pick<Git, 'look' | 'moveRef' | 'stores' | 'tip'>;
  readonly rescues: Rescues;
}

/** The ref of the snapshot; null when there was nothing to save. */
export async function rescueFirst(
  { git, rescues }: Ports,
  request: SnapshotRequest,
  /** A person confirmed the step, so a store that cannot be brought is set aside. Gets its new place. */
  onSetAside?: (place: string) => void,
): Promise<string | null> {
  // A killed agent of a sandbox leaves objects that the repository does not have yet.
  await git.stores.bring(request.task).catch((error: unknown) => {
    if (onSetAside === undefined || !isBeyondLimits(error)) throw error;
    git.stores.setAside(request.task).forEach(onSetAside);
  });
  const facts = await git.look(request.worktree);
  const isEmpty =
    facts.state === 'absent' ? !facts.isRegistered : facts.state === 'broken' && facts.isUnfinished;
  if (isEmpty) return null;
  const outcome = await rescues.snapshot(request);
  return outcome.kind === 'saved' ? outcome.rescue.ref : null;
}

/** The tip of a branch; if an agent deleted it, HEAD at the time of the rescue. */
export async function tipOrRescued(
  { git, rescues }: Ports,
  branch: BranchName,
  rescue: string | null,
): Promise<CommitId | null> {
  const tip = await git.tip(branchRef(branch));
  if (tip !== undefined || rescue === null) return tip ?? null;
  return (await rescues.find(rescue))?.head ?? null;
}

/** Gives commits a ref of their own before their branch is deleted or moved back. */
export async function keepTip(
  { git }: Pick<Ports, 'git'>,
  task: TaskId,
  tip: CommitId,
  at: Timestamp,
): Promise<string> {
  const ref = `refs/copse/keep/${task}/${at}-${tip.slice(0, 12)}`;
  const moved = await git.moveRef(ref, null, tip, 'copse: kept before its branch moves');
  if (moved.kind !== 'moved' && moved.tip !== tip)
    throw new Error(`The commits of ${task} could not be kept under ${ref}`);
  return ref;
}

export function branchRef(branch: BranchName): string {
  return `refs/heads/${branch}`;
}
