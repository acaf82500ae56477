/** The sandbox in which teardown commands run: that of the agent that worked there last. */

import { rmSync } from 'node:fs';
import path from 'node:path';

import { attemptFiles } from '../../agents/files/attempt-files.ts';
import { agentVariables } from '../../agents/rules/session/agent-variables.ts';
import { type EffectiveAgent, effectiveAgent } from '../../config/effective.ts';
import type { Config } from '../../config/schema.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { type AgentName, type AttemptId, type TaskId, brand } from '../../kernel/ids.ts';
import type { Confined } from '../../workspaces/files/furnish.ts';
import type { Repository } from '../../git/directory/locate.ts';
import { type SandboxSurroundings, openSandbox } from './sandbox.ts';

export interface Teardown {
  readonly name: AgentName;
  readonly task: TaskId;
  readonly worktreeFolder: string;
  /** The settings of a runner's own agent. */
  readonly agent: Pick<Config, 'workspace' | 'landing'> | EffectiveAgent | undefined;
}

/** Undefined for an agent without a sandbox, and for one that copse.yml no longer has. */
export async function teardownSandbox(
  { name, task, worktreeFolder, agent: own }: Teardown,
  repository: Repository,
  { env, config }: { readonly env: SandboxSurroundings['env']; readonly config: () => Promise<Config> },
): Promise<Confined | undefined> {
  const isOwn = own !== undefined && 'sandbox' in own && own.name === name;
  const agent = isOwn ? own : effectiveAgent(await config(), name);
  if (agent === undefined || agent.sandbox === 'none') return undefined;
  const attempt = brand<AttemptId>(`teardown-${task}`);
  const mayTake = outsideOf(repository);
  const root = repository.configFolder;
  const of = { repository, root, worktreeFolder, attempt, env, mayTake, isWithoutObjects: true };
  const sandbox = openSandbox(agent, of);
  if (sandbox === null) return undefined;
  const { runtime, command, model, pass_env: pass } = agent;
  const line = typeof command === 'string' ? command : (command ?? []).join(' ');
  const program = { runtime, command: line, model };
  return {
    attempt,
    // Its temporary folder, which `close` deletes.
    scratch: path.join(attemptFiles(repository.home, attempt).sandbox, 'tmp'),
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
