/** Every adapter that worktrees need, as one thing to load: each file that is loaded by itself adds to the start of a command. */

export { openCheckout } from '../adapters/git/checkout.ts';
export { openDiffs } from '../adapters/git/diff.ts';
export { furnishingGit } from '../adapters/git/furnish-git.ts';
export { openPool } from '../adapters/git/pool.ts';
export { openGit } from '../git/repository.ts';
export { openRescues } from '../adapters/git/rescues.ts';
export { openSync } from '../adapters/git/sync.ts';
export { openTrustedDir } from '../git/directory/trusted-dir.ts';
export { openOccupancy } from '../processes/occupancy.ts';
export { openTrash } from '../adapters/trash/open.ts';
export { disk } from '../adapters/workspace/disk.ts';
export { workspaceFurnishing } from '../adapters/workspace/furnish.ts';
export { portProbe } from '../adapters/workspace/port-probe.ts';
