/** What commands need that only show who works and what waits: a part of compose/run.ts that loads and opens little. */

import { baseByFiles } from '../adapters/git/base-by-files.ts';
import { openTrustedDir } from '../adapters/git/trusted-dir.ts';
import { isAlive } from '../adapters/processes/identity.ts';
import { readRunner } from '../adapters/runners/attempt-files.ts';
import { disk } from '../adapters/workspace/disk.ts';
import type { LookContext } from '../app/run-context.ts';
import {
  type Repository,
  type Surroundings,
  configOf,
  nodeHere,
  openContext,
  requireRepository,
} from '../compose.ts';
import type { Policy } from '../domain/policy.ts';
import { landingFor } from '../protocol/config/effective.ts';
import { type KnownAgents, agentsOf } from './agents.ts';
import { machine } from './machine.ts';
import { systemTimer } from './parts.ts';
import { openRadarMemory } from './radar-sight.ts';

export interface OpenLook {
  readonly context: LookContext;
  readonly unusable: KnownAgents['unusable'];
}

export async function openLook(surroundings: Surroundings): Promise<OpenLook> {
  const repository = requireRepository(surroundings);
  const { home, configFolder: root } = repository;
  const config = await configOf(repository);
  const { usable: agents, unusable } = await agentsOf(config, surroundings, root);
  const context = await openContext(surroundings);
  return {
    unusable,
    context: {
      ...context,
      clock: systemTimer,
      agents,
      disk,
      git: { detectBase: () => detectBase(repository, context.policy) },
      landing: landingFor(config.landing, config.workspace),
      machine,
      node: nodeHere(repository),
      occupancy: { isAlive },
      radar: openRadarMemory(repository),
      root,
      runners: { runnerOf: async (attempt) => readRunner(home, attempt) },
      target: config.landing.target,
    },
  };
}

async function detectBase(repository: Repository, policy: Policy) {
  const dir = openTrustedDir(repository);
  const known = baseByFiles(dir);
  if (known !== null) return known;
  const { openGit } = await import('./workspace-adapters.ts');
  return openGit(dir, policy).detectBase();
}
