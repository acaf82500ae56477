/** What commands need that only show who works and what waits: a part of compose/run.ts that loads and opens little. */

import { existsSync } from 'node:fs';

import type { Context } from '../board/context.ts';
import { baseByFiles } from '../git/refs/base-by-files.ts';
import { openTrustedDir } from '../git/directory/trusted-dir.ts';
import type { TrustedDir } from '../git/process.ts';
import type { Git } from '../git/port.ts';
import { openGit } from '../git/repository.ts';
import { isAlive } from '../processes/identity.ts';
import { readStopped, readRunner } from '../agents/files/attempt-files.ts';
import { knownRunners } from '../agents/files/known-runners.ts';
import { lastLineOf } from '../agents/files/attempt-log.ts';
import { disk } from '../workspaces/files/disk.ts';
import type { LookContext } from '../queue/context.ts';
import type { ListContext } from '../workspaces/act/worktree-list.ts';
import {
  type Surroundings,
  attemptSettings,
  configOf,
  findRepository,
  nodeHere,
  type OpenContextOptions,
  openContext,
  requireRepository,
  rootsOf,
} from './open.ts';
import { landingFor } from '../config/effective.ts';
import { agentsOf } from './run/agents.ts';
import { isLedAt, isOrchestratedAt } from './board/who-runs.ts';
import { machine } from './machine.ts';
import { systemTimer } from './parts.ts';
import { openRadarMemory } from './radar-sight.ts';

export async function withLook<T>(
  surroundings: Surroundings,
  work: (context: LookContext) => Promise<T>,
  options: OpenContextOptions = {},
): Promise<T> {
  const look = await openLook(surroundings, options);
  try {
    return await work(await look.context());
  } finally {
    await look.close();
  }
}

/** Whether an orchestrator runs for this clone on this machine. */
export function isOrchestrated(surroundings: Surroundings): Promise<boolean> {
  return isOrchestratedAt(requireRepository(surroundings).home);
}

export interface OpenLook {
  /** Looks again for agents that could not run here: a person may have started Docker meanwhile. */
  context(this: void): Promise<LookContext>;
  /** Closes its board and the gits that it started. */
  close(this: void): Promise<void>;
}

export async function openLook(
  surroundings: Surroundings,
  options: OpenContextOptions = {},
): Promise<OpenLook> {
  const repository = requireRepository(surroundings);
  const { home, configFolder: root } = repository;
  const config = await configOf(repository);
  let agents = await agentsOf(config, surroundings, root);
  let agentsMs = performance.now();
  const context = await openContext(surroundings, undefined, options);
  let dir: TrustedDir | undefined;
  const trusted = () => (dir ??= openTrustedDir(repository));
  let git: Git | undefined;
  const asked = () => (git ??= openGit(trusted(), context.policy));
  const look: Omit<LookContext, 'agents' | 'unusable' | 'pendingAgents'> = {
    ...context,
    clock: systemTimer,
    disk,
    git: {
      countCommits: (notFrom, from) => asked().countCommits(notFrom, from),
      detectBase: async () => baseByFiles(trusted()) ?? asked().detectBase(),
      isAncestor: (ancestor, of) => asked().isAncestor(ancestor, of),
      look: (path) => asked().look(path),
      tip: (name) => asked().tip(name),
      uncommitted: (path) => asked().uncommitted(path),
      stillUncommitted: (path, files) => asked().stillUncommitted(path, files),
    },
    isLedHere: (target) => isLedAt(home, target),
    landing: landingFor(config.landing, config.workspace),
    machine,
    node: nodeHere(repository),
    occupancy: { isAlive },
    radar: openRadarMemory(repository),
    root,
    rootOf: await rootsOf(repository, surroundings),
    runners: {
      ...knownRunners(home),
      runnerOf: async (attempt) => readRunner(home, attempt),
      stoppedOf: async (attempt) => readStopped(home, attempt),
      lastLineOf: async (task, attempt) => lastLineOf(home, task, attempt),
    },
    target: config.landing.target,
  };
  return {
    async context() {
      const isOld = performance.now() - agentsMs > context.policy.sandboxTries.keptMs;
      if (agents.unusable.length > 0 && isOld) {
        agents = await agentsOf(config, surroundings, root);
        agentsMs = performance.now();
      }
      const { usable, unusable, pendingAgents } = agents;
      return { ...look, agents: usable, unusable, pendingAgents };
    },
    async close() {
      await Promise.all([git?.close(), context.board.close()]);
    },
  };
}

/** For the list of worktrees: git, and nothing that makes or removes one. `known`: the board, if it is open already. */
export async function withWorktreeList<T>(
  surroundings: Surroundings,
  work: (context: ListContext) => Promise<T>,
  known?: Context,
): Promise<T> {
  const repository = requireRepository(surroundings);
  const context = known ?? (await openContext(surroundings));
  let git: Git | undefined;
  const others = new Map<string, Git>();
  const gitAt = (root: string): Git | undefined => {
    const there = others.has(root) || !existsSync(root) ? undefined : findRepository(root);
    if (there !== undefined) others.set(root, openGit(openTrustedDir(there), context.policy));
    return others.get(root);
  };
  try {
    git = openGit(openTrustedDir(repository), context.policy);
    const { landing } = attemptSettings(repository, surroundings)?.agent ?? (await configOf(repository));
    return await work({ ...context, git, gitAt, node: nodeHere(repository), target: landing.target });
  } finally {
    for (const other of others.values()) await other.close();
    await Promise.all([git?.close(), known === undefined && context.board.close()]);
  }
}
