/** The sandbox in which set-up and teardown commands run on files that an agent with a sandbox wrote. */

import { rmSync } from 'node:fs';

import { attemptFiles } from '../../agents/files/attempt-files.ts';
import { agentVariables } from '../../agents/rules/session/agent-variables.ts';
import { type EffectiveAgent, effectiveAgent } from '../../config/effective.ts';
import { configFrom } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { type AgentName, type AttemptId, brand } from '../../kernel/ids.ts';
import type { Confined, ConfinedStep, CommandConfinement } from '../../workspaces/files/furnish.ts';
import type { Repository } from '../../git/directory/locate.ts';
import { type SandboxSurroundings, openSandbox } from './sandbox.ts';

interface ConfinementSurroundings {
  readonly repository: Repository;
  readonly worktreeFolder: string;
  readonly env: SandboxSurroundings['env'];
  readonly config: () => Promise<Config>;
  /** The settings of a runner's own agent. */
  readonly own: Pick<Config, 'workspace' | 'landing'> | EffectiveAgent | undefined;
}

export function workspaceConfinement(around: ConfinementSurroundings): CommandConfinement {
  return {
    async isNeeded({ step, agent: name }, recorded) {
      if (recorded === true) return true;
      const agent = await settingsOf(name, around);
      if (agent !== undefined) return agent.sandbox !== 'none';
      if (recorded === false || name === null) return false;
      // A person, or an agent that copse.yml no longer has. A branch from another machine may be a person's own.
      return step === 'teardown' || isAnyConfined(await around.config());
    },
    open: (of) => open(of, around),
  };
}

function isAnyConfined(config: Config): boolean {
  return Object.keys(config.agents).some((name) => effectiveAgent(config, name)?.sandbox !== 'none');
}

async function settingsOf(
  name: AgentName | null,
  { own, config }: ConfinementSurroundings,
): Promise<EffectiveAgent | undefined> {
  if (name === null) return undefined;
  const isOwn = own !== undefined && 'sandbox' in own && own.name === name;
  return isOwn ? own : effectiveAgent(await config(), name);
}

/** That of the agent; `runtime` with no permissions of its own if it is unknown or has none any more. */
async function confinedAgent(
  name: AgentName | null,
  around: ConfinementSurroundings,
): Promise<EffectiveAgent> {
  const agent = await settingsOf(name, around);
  if (agent !== undefined && agent.sandbox !== 'none') return agent;
  const { agents } = await configFrom({ agents: { unknown: { command: 'true', sandbox: 'runtime' } } });
  const usual = effectiveAgent({ ...(await around.config()), agents }, 'unknown');
  if (usual === undefined) throw new Error('The agent that was just configured is missing');
  return usual;
}

async function open(
  { step, agent: name, task, opens }: ConfinedStep,
  around: ConfinementSurroundings,
): Promise<Confined> {
  const known = await confinedAgent(name, around);
  const agent = opens === undefined ? known : { ...known, sandbox_write: [...known.sandbox_write, opens] };
  const { repository, worktreeFolder, env } = around;
  const attempt = brand<AttemptId>(`${step}-${task}`);
  const mayTake = outsideOf(repository);
  const root = repository.configFolder;
  const of = { repository, root, worktreeFolder, attempt, env, mayTake, isWithoutObjects: true };
  const sandbox = await openSandbox(agent, of);
  if (sandbox === null) throw new Error(`The agent ${agent.name} has no sandbox`);
  const { runtime, command, model, pass_env: pass } = agent;
  const line = typeof command === 'string' ? command : (command ?? []).join(' ');
  const program = { runtime, command: line, model };
  return {
    attempt,
    environment: agentVariables(env, { program, pass, board: env['COPSE_BOARD'] }),
    sandbox: {
      ...sandbox,
      close: () => {
        sandbox.close();
        rmSync(attemptFiles(repository.home, attempt).sandbox, { recursive: true, force: true });
      },
    },
  };
}
