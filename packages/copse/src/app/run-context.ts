/** What running agents and landing their work needs besides workspaces. */

import type { AgentName, BranchName } from '../domain/ids.ts';
import type { Artifacts } from '../ports/artifacts.ts';
import type { Checks } from '../ports/checks.ts';
import type { Commands } from '../ports/commands.ts';
import type { Timer } from '../ports/clock.ts';
import type { Forge } from '../ports/forge.ts';
import type { Machine } from '../ports/machine.ts';
import type { Merging } from '../ports/merging.ts';
import type { Radar } from '../ports/radar.ts';
import type { Resolving } from '../ports/resolving.ts';
import type { Runners } from '../ports/runners.ts';
import type { EffectiveAgent } from '../protocol/config/effective.ts';
import type { Config } from '../protocol/config/schema.ts';
import type { Git } from '../ports/git.ts';
import type { Occupancy } from '../ports/occupancy.ts';
import type { RadarSight } from '../ports/radar.ts';
import { baseBranchOf } from './newest-base.ts';
import type { Context } from './context.ts';
import type { WorkspaceContext } from './workspace-context.ts';

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

/** What commands need that only show something: it starts no git, and opens nothing that lands work. */
export interface LookContext
  extends
    Context,
    Pick<RunContext, 'agents' | 'clock' | 'disk' | 'landing' | 'machine' | 'node' | 'root' | 'target'> {
  readonly clock: Timer;
  readonly git: Pick<Git, 'detectBase'>;
  readonly occupancy: Pick<Occupancy, 'isAlive'>;
  readonly radar: RadarSight & Pick<Radar, 'memory'>;
  readonly runners: Pick<Runners, 'runnerOf'>;
}

export function agentNamed({ agents }: RunContext, name: AgentName): EffectiveAgent | undefined {
  return agents.find((agent) => agent.name === name);
}

/** The branch that a task's work lands on. */
export async function targetOf(
  { git, target }: Pick<LookContext, 'git' | 'target'>,
  begunFrom: BranchName | undefined,
  agent?: EffectiveAgent,
): Promise<BranchName | undefined> {
  return baseBranchOf(git, agent?.landing.target ?? target, begunFrom);
}
