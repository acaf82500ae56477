/** What agents and the queue need besides a workspace context. */

import type { AgentName } from '../kernel/ids.ts';
import type { Artifacts } from '../agents/ports/artifacts.ts';
import type { Checks } from './ports/checks.ts';
import type { Commands } from '../workspaces/ports/commands.ts';
import type { Timer } from '../kernel/clock.ts';
import type { Forge } from '../review/port.ts';
import type { Machine } from '../agents/ports/machine.ts';
import type { Merging, Resolving } from './ports/merging.ts';
import type { Radar } from '../radar/port.ts';
import type { Runners } from '../agents/ports/runners.ts';
import type { EffectiveAgent } from '../config/effective.ts';
import type { Config } from '../config/schema.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';

export interface RunContext extends WorkspaceContext {
  readonly pid: number;
  readonly clock: Timer;
  readonly runners: Runners;
  readonly merging: Merging;
  readonly resolving: Resolving;
  readonly radar: Radar;
  readonly forge: Forge;
  readonly checks: Checks;
  readonly commands: Commands;
  readonly artifacts: Artifacts;
  readonly machine: Machine;
  /** In the order of copse.yml: an earlier one is preferred. */
  readonly agents: readonly EffectiveAgent[];
  readonly landing: Config['landing'];
  readonly finish: Config['finish'];
}

export function agentNamed({ agents }: RunContext, name: AgentName): EffectiveAgent | undefined {
  return agents.find((agent) => agent.name === name);
}
