/** What `copse doctor` says about agents, and about what can confine them. */

import type { EffectiveAgent } from '../../config/effective.ts';
import { splitInstall } from '../../explain/rules/reason.ts';
import { lackOfAgents } from '../../explain/rules/waiting.ts';
import { named, shown } from '../../kernel/text.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { HealthCheck } from '../../operations/access.ts';
import { isOrchestratedAt } from '../board/who-runs.ts';
import {
  type Repository,
  type Surroundings,
  configOf,
  findRepository,
  nodeHere,
  openContext,
} from '../open.ts';
import type { Confinement } from '../run/confinement.ts';
import { fine, missing, problem } from './health-check.ts';

/** Agents that copse.yml names and that cannot run here are a fault; no agent at all is none, because people work by hand too. */
export async function checkAgents(from: Surroundings, found: Repository): Promise<readonly HealthCheck[]> {
  const { agentsOf, lookForAgent } = await import('../run/agents.ts');
  const { usable, unusable, pendingAgents } = await agentsOf(await configOf(found), from, found.configFolder);
  if (usable.length + unusable.length === 0) {
    const started = await startedHere(from, found);
    if (started.length > 0)
      return [fine('agents', `the running orchestrator was started with the agent ${shown(named(started))}`)];
    const lack = lackOfAgents({ agents: usable, pendingAgents });
    if (pendingAgents !== undefined && lack !== null)
      return [missing('agents', lack.text.charAt(0).toLowerCase() + lack.text.slice(1, -1), lack.command)];
    const remedy = 'copse agents detect # to see how to install one';
    return [
      missing(
        'agents',
        'no agent is installed or configured: without one, you do the tasks yourself (copse work)',
        remedy,
      ),
    ];
  }
  const looks = usable.map((agent) => ({
    name: agent.name,
    isChecked: lookForAgent(agent, found.configFolder, from.env).kind !== 'unknown',
  }));
  const names = (isWanted: boolean) =>
    looks.flatMap(({ name, isChecked }) => (isChecked === isWanted ? [name] : [])).join(', ');
  const able = names(true);
  const unchecked = names(false);
  return [
    ...(able === '' ? [] : [fine('agents', `${able} can run here`)]),
    ...(unchecked === ''
      ? []
      : [fine('agents', `${unchecked}: a shell runs the command; its program was not checked`)]),
    ...unusable.map(({ reason }) => unable('agents', reason)),
  ];
}

/** Agents of the orchestrator that runs on this machine, such as that of its `--command`. */
async function startedHere(from: Surroundings, found: Repository): Promise<readonly string[]> {
  if (!(await isOrchestratedAt(found.home))) return [];
  const { board } = await openContext(from);
  try {
    const node = await board.get('node', nodeHere(found));
    return (node?.facts?.capabilities.agents ?? []).map(({ name }) => name);
  } finally {
    await board.close();
  }
}

/** Where a reason ends with a command that installs a program, that command is the remedy. */
function unable(name: string, reason: string): HealthCheck {
  const { found, install } = splitInstall(reason);
  const change = found.includes('Docker does not answer') ? WITHOUT_DOCKER : AFTER_REPAIR;
  return problem(name, found, install ?? (found.includes(' needs the program ') ? AFTER_INSTALL : change));
}

const AFTER_REPAIR = 'Change copse.yml, then run: copse config accept';
const AFTER_INSTALL = 'Install it; or change copse.yml, then run: copse config accept';
const WITHOUT_DOCKER =
  'Start Docker; or remove `sandbox: docker` from copse.yml, then run: copse config accept';

/** A sandbox that is missing is no fault unless an agent asks for it; then that agent cannot run here. */
export async function checkConfinement(from: Surroundings): Promise<readonly HealthCheck[]> {
  const { confinementHere } = await import('../run/confinement.ts');
  const here = await confinementHere(from);
  const asked = await sandboxesAskedFor(from);
  const can = (name: string, sandbox: Sandboxed, why: string | null) => {
    if (why === null) return fine(name, `agents can use "sandbox: ${sandbox}"`);
    const found = `agents cannot use "sandbox: ${sandbox}": ${why}`;
    if (asked.has(sandbox)) return unable(name, found);
    const split = splitInstall(found);
    return missing(name, split.found, split.install);
  };
  return [can('sandbox', 'runtime', here.runtime), can('docker', 'docker', here.docker), processes(here)];
}

type Sandboxed = EffectiveAgent['sandbox'];

/** By the agents in copse.yml and by its checks. */
async function sandboxesAskedFor(from: Surroundings): Promise<ReadonlySet<Sandboxed>> {
  const { effectiveAgent } = await import('../../config/effective.ts');
  try {
    const found = findRepository(from.cwd);
    if (found === undefined) return new Set();
    const config = await configOf(found);
    const agents = Object.keys(config.agents).flatMap((name) => effectiveAgent(config, name)?.sandbox ?? []);
    return new Set([...agents, config.landing.sandbox ?? 'none']);
  } catch (error) {
    // Said of the repository or of its settings.
    if (error instanceof Unavailable) return new Set();
    throw error;
  }
}

function processes(here: Confinement): HealthCheck {
  const isComplete = here.hasGroups && here.reaper !== null;
  if (isComplete) return fine('processes', processesFound(here));
  const remedy = here.reaper === null ? 'Install perl or python3, for the reaper.' : null;
  return missing('processes', processesFound(here), remedy);
}

/** How the processes of agents without a sandbox are found when they hide. */
function processesFound({ hasGroups, reaper }: Confinement): string {
  if (hasGroups && reaper !== null)
    return `Copse finds and ends all processes of an agent (with control groups and ${reaper})`;
  if (hasGroups)
    return 'a process that moves to another control group can outlive its agent, because there is no reaper';
  if (reaper !== null)
    return `a process that kills the reaper (${reaper}) can outlive its agent: this machine has no control groups for Copse`;
  return 'a process that clears its environment and leaves its parent can outlive its agent, because there is no reaper';
}
