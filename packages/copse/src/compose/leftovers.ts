/** What is left of tasks in the repository: to be tidied up, or to rebuild a lost board from. */

import { type BranchName, brand } from '../kernel/ids.ts';
import { privateCache } from '../kernel/system/private-cache.ts';
import { openTrustedDir } from '../git/directory/trusted-dir.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';
import type { TaskLeftovers } from '../workspaces/ports/leftovers.ts';
import { openLeftovers as openIn } from '../workspaces/trash/leftovers.ts';
import { findTraces as findIn } from '../workspaces/git/traces.ts';
import type { TaskTraces } from '../workspaces/rules/rebuild.ts';
import { type Surroundings, openWorkspaceContext, requireRepository } from './open.ts';

export function openLeftovers(surroundings: Surroundings): TaskLeftovers {
  const teardowns = privateCache(surroundings.env, 'copse-teardown');
  return openIn(openTrustedDir(requireRepository(surroundings)), teardowns);
}

/** Opens the board also where it was lost. */
export function openForRebuild(surroundings: Surroundings): Promise<WorkspaceContext> {
  return openWorkspaceContext(surroundings, { mayReplaceLost: true });
}

export async function findTraces(
  surroundings: Surroundings,
  { git, target }: WorkspaceContext,
): Promise<readonly TaskTraces[]> {
  const branch = target === undefined ? await git.detectBase() : brand<BranchName>(target);
  return findIn(openTrustedDir(requireRepository(surroundings)), branch);
}
