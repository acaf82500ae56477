/** What this machine is and can do, as its node tells the board. */

import { existsSync } from 'node:fs';
import { availableParallelism, hostname, totalmem } from 'node:os';

import { vendorRuntimes } from '../agents/rules/runtimes.ts';
import { findRuntime } from '../agents/runtimes/installed.ts';
import { migratedVersion } from '../board/migrations/version.ts';
import { outsideOf } from '../git/directory/work-tree.ts';
import { readIfThere } from '../kernel/system/plain-file.ts';
import type { Arrival, NodeCapabilities } from '../machines/rules/node.ts';
import type { RunContext } from '../queue/context.ts';
import { type Surroundings, requireRepository } from './open.ts';

export interface ToldOptions {
  readonly name: string | null;
  readonly labels: readonly string[] | null;
  readonly version: string;
}

export function arrivalOf(
  surroundings: Surroundings,
  { agents, policy }: Pick<RunContext, 'agents' | 'policy'>,
  { name, labels, version }: ToldOptions,
): Omit<Arrival, 'clockOffsetMs'> {
  return {
    name,
    hostName: hostname(),
    facts: {
      version,
      // A Copse works with one version of the board: it migrates older ones, and refuses newer ones.
      protocol: { oldest: migratedVersion, newest: migratedVersion },
      labels,
      capabilities: capabilitiesOf(surroundings, agents),
      slots: policy.orchestration.maxAgents,
    },
  };
}

function capabilitiesOf(surroundings: Surroundings, agents: RunContext['agents']): NodeCapabilities {
  const { env } = surroundings;
  const mayTake = outsideOf(requireRepository(surroundings));
  return {
    programs: vendorRuntimes.filter((runtime) => findRuntime(runtime, { env, mayTake }) !== undefined),
    agents: agents.map(({ name, capabilities }) => ({ name, capabilities })),
    platform: [process.platform, process.arch],
    cpus: availableParallelism(),
    memoryBytes: memoryBytes(),
    isContainer: isContainer(env),
  };
}

/** Of the control group, where that is less than the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function isContainer(env: Surroundings['env']): boolean {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) return true;
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true;
  return /docker|kubepods|containerd|libpod/.test(readIfThere('/proc/1/cgroup') ?? '');
}
