/** Opens the sandbox of an agent, and says whether this machine has it. */

import { rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { attemptFiles } from '../../agents/files/attempt-files.ts';
import { findPackageFile } from '../../agents/runtimes/claude-sdk/package.ts';
import { dockerProblem, dockerSandbox } from '../../agents/sandbox/docker.ts';
import { openFolder, openForCheck } from '../../agents/sandbox/places.ts';
import { PACKAGE, runtimeProblem, runtimeSandbox } from '../../agents/sandbox/runtime.ts';
import { tryOnce } from '../../agents/sandbox/try-once.ts';
import type { Repository } from '../../git/directory/locate.ts';
import type { AttemptId } from '../../kernel/ids.ts';
import { hasOwnNamespace } from '../../agents/rules/session/sandbox.ts';
import type { IsOutside } from '../../git/directory/work-tree.ts';
import { type CacheName, cachePlace, privateCache } from '../../kernel/system/private-cache.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { NotConfined, type Sandbox } from '../../processes/ports/programs.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import type { Config } from '../../config/schema.ts';

/** Why the agent's sandbox is not available, or null. */
export async function sandboxProblem(
  { name, sandbox, workspace, docker }: EffectiveAgent,
  env: SandboxSurroundings['env'],
  mayTake: IsOutside,
): Promise<string | null> {
  if (sandbox === 'none') return null;
  const asks = `The agent ${name} asks for the sandbox ${sandbox}, and`;
  if (workspace.strategy === 'static')
    return `${asks} works in the main checkout, which a sandbox must protect: set \`workspace.strategy\` to git_worktree.`;
  if (workspace.strategy === 'git_worktree' && !hasOwnNamespace(workspace.branch_pattern))
    return `${asks} its branch names (${workspace.branch_pattern}) do not begin with the task, so it could move branches of other tasks: set \`workspace.branch_pattern\` to {task}/{slug}.`;
  if (sandbox === 'docker' && docker.image === undefined)
    return `${asks} no image is set: set agents.${name}.docker.image to an image with the agent’s program.`;
  const find = (program: string) => findProgram(program, env, mayTake);
  const tryOut = (argv: readonly [string, ...string[]]) => tryOnce(argv, env);
  const problem =
    sandbox === 'docker'
      ? await dockerProblem(find, tryOut)
      : await runtimeProblem(findSrt(env, mayTake), find, tryOut);
  return problem === null ? null : `${asks} ${problem}.`;
}

export interface SandboxSurroundings {
  readonly repository: Repository;
  readonly root: string;
  readonly worktreeFolder: string;
  readonly attempt: AttemptId;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a file is outside of the repository. */
  readonly mayTake: IsOutside;
  /** For commands after which no object is brought. */
  readonly isWithoutObjects?: boolean;
}

/** Null for an agent without a sandbox. */
export async function openSandbox(
  agent: EffectiveAgent,
  surroundings: SandboxSurroundings,
): Promise<Sandbox | null> {
  const { repository, root, worktreeFolder, attempt, env, mayTake, isWithoutObjects = false } = surroundings;
  const { sandbox, runtime, command, sandbox_hosts: hosts, sandbox_write: write, docker } = agent;
  const { sandbox_read: read } = agent;
  if (sandbox === 'none') return null;
  const problem = await sandboxProblem(agent, env, mayTake);
  if (problem !== null) return unavailable(problem);
  const settings = {
    repository,
    folder: attemptFiles(repository.home, attempt).sandbox,
    runtime,
    command: typeof command === 'string' ? command : (command ?? []).join(' '),
    hosts,
    write,
    read,
    root,
    worktreeFolder,
    isWithoutObjects,
    ...placesOfPerson(env),
    find: (program: string) => findProgram(program, env, mayTake),
  };
  const srt = findSrt(env, mayTake);
  if (sandbox === 'runtime' && srt !== undefined) return runtimeSandbox({ ...settings, srt });
  if (sandbox === 'docker' && docker.image !== undefined)
    return dockerSandbox({ ...settings, image: docker.image, variables: docker.env });
  return unavailable(`There is no sandbox ${sandbox}.`);
}

/** Whether the checks of the queue run in a sandbox: as `landing.sandbox` says, or as the agents do. */
export function areChecksConfined(
  landing: Pick<Config['landing'], 'sandbox'>,
  agents: readonly Pick<Config['agents'][string], 'sandbox'>[],
): boolean {
  const isUsual = agents.some(({ sandbox }) => sandbox === 'runtime');
  return landing.sandbox === undefined ? isUsual : landing.sandbox === 'runtime';
}

/** The sandbox of a run of checks. What they run was written by agents: it writes its own worktree only. */
export function checkSandbox(
  { sandbox_hosts: hosts, sandbox_write: write }: Config['landing'],
  { repository, root, worktreeFolder, env, mayTake }: Omit<SandboxSurroundings, 'attempt'>,
): (run: string, opens?: 'worktree' | 'folder') => Promise<Sandbox> {
  return async (run, opens = 'worktree') => {
    const find = (program: string) => findProgram(program, env, mayTake);
    const srt = findSrt(env, mayTake);
    const problem = await runtimeProblem(srt, find, (argv) => tryOnce(argv, env));
    if (srt === undefined || problem !== null)
      return unavailable(
        `The checks are to run in a sandbox, and ${problem ?? 'there is none'}. Or set \`landing.sandbox\` to none.`,
      );
    const folder = path.join(repository.home, '.copse', 'checks', run);
    const open = opens === 'worktree' ? openForCheck : openFolder;
    const of = { repository, root, worktreeFolder, folder, find, srt, hosts, write, open };
    const none = { runtime: undefined, command: '', read: [] };
    const sandbox = runtimeSandbox({ ...of, ...none, ...placesOfPerson(env) });
    const close = () => {
      sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    };
    return { ...sandbox, close };
  };
}

/** Makes the caches where they are missing: a sandbox can keep or hide only a folder that is there. */
function placesOfPerson(env: SandboxSurroundings['env']) {
  const userHome = env['HOME'] ?? homedir();
  const cache = (name: CacheName) => privateCache(env, name) ?? cachePlace(env, name);
  return {
    userHome,
    variables: env,
    compiled: cache('copse-compiled'),
    teardowns: cache('copse-teardown'),
    tokens: cache('copse-serve'),
  };
}

/** The sandbox was available when the task was claimed; every start now fails with the reason. */
function unavailable(problem: string): Sandbox {
  return {
    wrap: () => {
      throw new NotConfined(problem);
    },
    close: () => {},
  };
}

export function findSrt(environment: SandboxSurroundings['env'], mayTake: IsOutside): string | undefined {
  return findPackageFile(`${PACKAGE}/dist/cli.js`, { environment, mayTake });
}
