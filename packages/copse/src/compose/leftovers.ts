/** What is left of tasks in the repository: to be tidied up, or to rebuild a lost board from. */

import { type BranchName, brand } from '../kernel/ids.ts';
import { privateCache } from '../kernel/system/private-cache.ts';
import { openTrustedDir } from '../git/directory/trusted-dir.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';
import type { TaskLeftovers } from '../workspaces/ports/leftovers.ts';
import { openLeftovers as openIn } from '../workspaces/trash/leftovers.ts';
import { findTraces as findIn } from '../workspaces/git/traces.ts';
import type { TaskTraces } from '../workspaces/rules/rebuild.ts';
import { openMemory } from '../kernel/system/json-file.ts';
import type { SweepMemory } from '../orchestrator/maintain.ts';
import type { LastSweeps } from '../workspaces/rules/sweep/due.ts';
import type { SweepContext } from '../workspaces/sweep/context.ts';
import { isOrchestratedAt } from './board/who-runs.ts';
import { type Surroundings, configOf, openWorkspaceContext, requireRepository } from './open.ts';

export function openLeftovers(surroundings: Surroundings): TaskLeftovers {
  const teardowns = privateCache(surroundings.env, 'copse-teardown');
  return openIn(openTrustedDir(requireRepository(surroundings)), teardowns);
}

/** When orchestrators of this clone swept last. */
export function openSweepMemory(home: string): SweepMemory {
  return openMemory<LastSweeps>(home, 'sweeps');
}

/** For a person's sweep. */
export async function openSweep(
  surroundings: Surroundings,
  workspaces: WorkspaceContext,
): Promise<SweepContext> {
  const repository = requireRepository(surroundings);
  const { agents, workspace } = await configOf(repository);
  return {
    ...workspaces,
    leftovers: openLeftovers(surroundings),
    isOrchestrated: await isOrchestratedAt(repository.home),
    cleanupOnFailure: (agent) => {
      const own = agent === null || !Object.hasOwn(agents, agent) ? undefined : agents[agent];
      return own?.workspace?.cleanup_on_failure ?? workspace.cleanup_on_failure;
    },
  };
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
