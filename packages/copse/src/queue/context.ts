/** What agents and the queue need besides a workspace context. */

import type { Context } from '../board/context.ts';
import type { Git } from '../git/port.ts';
import type { Occupancy } from '../processes/ports/occupancy.ts';
import type { AgentName, BranchName } from '../kernel/ids.ts';
import type { Artifacts, Machine, Runners } from '../agents/ports/runners.ts';
import type { Hooks } from '../agents/ports/hooks.ts';
import type { Checks } from './ports/checks.ts';
import type { Commands } from '../workspaces/ports/furnishing.ts';
import type { Timer } from '../kernel/clock.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import type { Forge } from '../review/port.ts';
import type { Merging, Resolving } from './ports/merging.ts';
import type { PendingAgents, UnusableAgent } from '../orchestrator/rules/schedule.ts';
import type { Intake } from '../intake/ports/intake.ts';
import type { Source, SourceMemories } from '../intake/port.ts';
import { type PlacedTask, repositoryOf } from '../tasks/rules/repository.ts';
import type { Radar, RadarSight } from '../radar/port.ts';
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
  /** Absent: this process runs no hooks. */
  readonly hooks?: Hooks;
  readonly artifacts: Artifacts;
  readonly machine: Machine;
  /** In the order of copse.yml: an earlier one is preferred. */
  readonly agents: readonly EffectiveAgent[];
  /** Agents of copse.yml that cannot run here. */
  readonly unusable?: readonly UnusableAgent[];
  readonly pendingAgents?: PendingAgents | undefined;
  /** Of `--command`: the only agent, and only for this command. */
  readonly agentCommand?: string;
  /** Absent: nothing comes in here but by commands. */
  readonly intake?: Intake;
  /** Where work items come from. */
  readonly sources: readonly Source[];
  readonly sourceMemories: SourceMemories;
  readonly landing: Config['landing'];
  readonly finish: Config['finish'];
  /** Absent in the context of such a repository. */
  readonly elsewhere?: OtherRepositories;
  /** The repository in which an agent works, if it is not the board's. */
  readonly rootOf?: (agent: AgentName) => string | null;
}

/** The repositories of agents with a `working_directory`. */
export interface OtherRepositories {
  readonly roots: readonly string[];
  /** What works there, on the same board. */
  at(root: string): Promise<RunContext>;
}

/** What works on the task: in the repository that it is in. */
export async function contextOf(context: RunContext, task: PlacedTask | undefined): Promise<RunContext> {
  const { elsewhere, rootOf = () => null } = context;
  const root = task === undefined ? null : repositoryOf(task, rootOf);
  return root === null || elsewhere === undefined ? context : elsewhere.at(root);
}

/** The folder of another repository, in which a task has its work, is gone. */
export class RepositoryGone extends Unavailable {
  constructor(root: string) {
    super(
      `The repository ${root}, where the work of the task is, is gone.`,
      'Put it back. Without it, copse cancel and copse delete still work.',
    );
  }
}

/** The same; without that repository, this one: then there is only the board to change. */
export async function contextToStop(context: RunContext, task: PlacedTask | undefined): Promise<RunContext> {
  try {
    return await contextOf(context, task);
  } catch (error) {
    if (error instanceof RepositoryGone) return context;
    throw error;
  }
}

/** What commands need that only show something: it starts no git where files tell, and opens nothing that lands work. */
export interface LookContext
  extends
    Context,
    Pick<
      RunContext,
      | 'agents'
      | 'agentCommand'
      | 'unusable'
      | 'pendingAgents'
      | 'clock'
      | 'disk'
      | 'landing'
      | 'machine'
      | 'node'
      | 'root'
      | 'rootOf'
      | 'target'
    > {
  readonly clock: Timer;
  readonly git: Pick<
    Git,
    'countCommits' | 'detectBase' | 'isAncestor' | 'look' | 'stillUncommitted' | 'tip' | 'uncommitted'
  >;
  readonly occupancy: Pick<Occupancy, 'isAlive'>;
  /** Whether a process of this machine leads the queue. Absent: what the board says of this machine counts. */
  readonly isLedHere?: (target: BranchName) => Promise<boolean>;
  readonly radar: RadarSight & Pick<Radar, 'memory'>;
  readonly runners: Pick<Runners, 'runnerOf' | 'stoppedOf' | 'lastLineOf' | 'known' | 'processesOf'>;
}

export function agentNamed(
  { agents }: Pick<RunContext, 'agents'>,
  name: AgentName,
): EffectiveAgent | undefined {
  return agents.find((agent) => agent.name === name);
}
