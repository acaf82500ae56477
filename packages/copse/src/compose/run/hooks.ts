/** Hooks around an attempt: in its runner, and in a process that recovers it. */

import path from 'node:path';

import { agentVariables } from '../../agents/rules/session/agent-variables.ts';
import type { HookCommands, Hooks } from '../../agents/ports/hooks.ts';
import { NotConfined, type Sandbox } from '../../processes/ports/programs.ts';
import { outsideOf, type IsOutside } from '../../git/directory/work-tree.ts';
import { withScratchIn } from '../../git/worktrees/place.ts';
import { searchedFolders } from '../../kernel/system/find-program.ts';
import { hiddenAddress, postJson } from '../../kernel/system/post-json.ts';
import { runCommands, runOrFail } from '../../workspaces/files/commands.ts';
import type { Commands } from '../../workspaces/ports/furnishing.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import { ownPrograms } from '../parts.ts';
import { type Repository, type Surroundings } from '../open.ts';
import { openSandbox } from './sandbox.ts';

/** In the runner: its sandbox is open, and its commands run in it. */
export function hooksInRunner(
  commands: Commands,
  environment: Readonly<Record<string, string>>,
  sandbox: Sandbox | null,
  home: string,
): Hooks {
  const isConfined = sandbox !== null;
  const run: Commands['run'] = (lines) => commands.run(lines);
  return {
    commandsOf: () =>
      Promise.resolve({ run, environment, isConfined, inScratch: scratchIn(home), close: () => {} }),
    post: (address, body, timeoutMs) => post(address, body, timeoutMs),
  };
}

/** For attempts whose runner is gone, with the settings that their agents have now. */
export function hooksOfLost(
  agents: readonly EffectiveAgent[],
  repository: Repository,
  { home, root, worktreeFolder }: Pick<WorkspaceContext, 'home' | 'root' | 'worktreeFolder'>,
  surroundings: Surroundings,
): Hooks {
  const { env } = surroundings;
  return {
    commandsOf: async (name, attempt) => {
      const agent = agents.find((one) => one.name === name);
      if (agent === undefined) throw new NotConfined(`There is no agent ${name} here.`);
      const mayTake = outsideOf(repository);
      const sandbox = await openSandbox(agent, { repository, root, worktreeFolder, attempt, env, mayTake });
      const environment = agentSurroundings(surroundings, agent, { programs: ownPrograms(home), mayTake });
      return {
        run: (lines) =>
          sandbox === null
            ? runCommands(lines)
            : runOrFail({ ...lines, isWhole: true, confined: { sandbox, attempt } }),
        environment,
        isConfined: sandbox !== null,
        inScratch: scratchIn(home),
        close: () => sandbox?.close(),
      };
    },
    post: (address, body, timeoutMs) => post(address, body, timeoutMs),
  };
}

function scratchIn(home: string): HookCommands['inScratch'] {
  return (work) => withScratchIn(path.join(home, '.copse', 'tmp'), work);
}

async function post(address: string, body: string, timeoutMs: number): Promise<string | null> {
  const url = new URL(address);
  const failure = await postJson(url, body, { timeoutMs });
  return failure === null ? null : `${hiddenAddress(url)}: ${failure.why}`;
}

/** With this installation's `copse` first, and without folders of the repository: the agent's program is looked for in it. */
export function agentSurroundings(
  { env }: Pick<Surroundings, 'env'>,
  { runtime, command, model, pass_env: pass }: EffectiveAgent,
  { programs, mayTake }: { readonly programs: string; readonly mayTake: IsOutside },
): Readonly<Record<string, string>> {
  const line = typeof command === 'string' ? command : (command ?? []).join(' ');
  const program = { runtime, command: line, model };
  const known = agentVariables(env, { program, pass, board: env['COPSE_BOARD'] });
  const folders = searchedFolders(known['PATH'] ?? '', mayTake);
  return { ...known, PATH: [programs, folders].join(path.delimiter) };
}
