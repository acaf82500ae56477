/** Every adapter that worktrees need, loaded as one chunk, because many small files slow down the start. */

export { openCheckout } from '../workspaces/git/checkout.ts';
export { openDiffs } from '../workspaces/git/diff.ts';
export { furnishingGit } from '../workspaces/files/furnish-git.ts';
export { openPool } from '../workspaces/git/pool/pool.ts';
export { openGit } from '../git/repository.ts';
export { openRescues } from '../workspaces/git/rescue/rescues.ts';
export { openSync } from '../workspaces/git/sync/sync.ts';
export { openTrustedDir } from '../git/directory/trusted-dir.ts';
export { openOccupancy } from '../processes/occupancy.ts';
export { knownRunners } from '../agents/files/known-runners.ts';
export { openTrash } from '../workspaces/trash/open.ts';
export { disk } from '../workspaces/files/disk.ts';
export { workspaceFurnishing } from '../workspaces/files/furnish.ts';
export { portProbe } from '../workspaces/files/port-probe.ts';
