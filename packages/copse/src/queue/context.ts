/** What running agents and landing their work needs besides workspaces. */

import type { AgentName } from '../kernel/ids.ts';
import type { Artifacts } from '../agents/ports/artifacts.ts';
import type { Checks } from './ports/checks.ts';
import type { Commands } from '../workspaces/ports/furnishing.ts';
import type { Timer } from '../kernel/clock.ts';
import type { Forge } from '../review/port.ts';
import type { Machine } from '../agents/ports/machine.ts';
import type { Merging } from './ports/merging.ts';
import type { Radar } from '../radar/port.ts';
import type { Resolving } from './ports/resolving.ts';
import type { Runners } from '../agents/ports/runners.ts';
import type { EffectiveAgent } from '../config/effective.ts';
import type { Config } from '../config/schema.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';

export interface RunContext extends WorkspaceContext {
  /** Of this process. */
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
  /** In the order of copse.yml, which is the order of preference. */
  readonly agents: readonly EffectiveAgent[];
  readonly landing: Config['landing'];
  readonly finish: Config['finish'];
}

export function agentNamed({ agents }: RunContext, name: AgentName): EffectiveAgent | undefined {
  return agents.find((agent) => agent.name === name);
}
