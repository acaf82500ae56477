/** Opens the checks of the merge queue. */

import path from 'node:path';

import { openChecks } from '../../queue/checks/open.ts';
import type { CheckSetup } from '../../queue/checks/runner.ts';
import { openCheckPlaces } from '../../queue/checks/place.ts';
import { runnableFiles } from '../../git/accepted/save.ts';
import type { TrustedDir } from '../../git/process.ts';
import { steps } from '../../processes/start/steps.ts';
import { foreignEnvironment, readForeignSetup } from '../../workspaces/files/foreign-setup.ts';
import { readIncludeFile } from '../../workspaces/files/include-file.ts';
import type { Checkout } from '../../workspaces/ports/furnishing.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { Repository, Surroundings } from '../open.ts';
import { agentVariables } from '../../agents/rules/session/agent-variables.ts';
import type { Config } from '../../config/schema.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { areChecksConfined, checkSandbox } from './sandbox.ts';
import type { Checks } from '../../queue/ports/checks.ts';
import { queueAsTask } from '../../workspaces/ports/trash.ts';

export interface ChecksSurroundings {
  readonly env: Surroundings['env'];
  /** Opens the sandbox of a run; null for none. */
  readonly sandbox: ReturnType<typeof checkSandbox> | null;
}

export interface ChecksConfinement {
  readonly landing: Config['landing'];
  readonly agents: Parameters<typeof areChecksConfined>[1];
  readonly board?: string | undefined;
}

/** In a sandbox they get the variables of an agent whose program is unknown. */
export function checksIn(
  { landing, agents, board }: ChecksConfinement,
  repository: Repository,
  { root, worktreeFolder }: WorkspaceContext,
  { env }: Surroundings,
): ChecksSurroundings {
  if (!areChecksConfined(landing, agents)) return { env, sandbox: null };
  const program = { runtime: 'command', command: '', model: undefined } as const;
  const pass = landing.pass_env;
  const known = agentVariables(env, { program, pass, board: env['COPSE_BOARD'] ?? board });
  const of = { repository, root, worktreeFolder, env, mayTake: outsideOf(repository) };
  return { env: known, sandbox: checkSandbox(landing, of) };
}

export function checksOf(
  dir: TrustedDir,
  context: WorkspaceContext,
  { env, sandbox }: ChecksSurroundings,
): Checks {
  const { root, worktreeFolder, mainGitDir, settings, git, policy } = context;
  const { home } = dir;
  const source = mainGitDir === null ? null : { folder: root, gitDir: mainGitDir };
  return openChecks({
    home,
    root,
    worktreeFolder,
    source,
    settings: {
      copy: settings.copy,
      link: settings.link,
      commandTimeoutMs: settings.command_timeout,
      sparse: settings.sparse ?? [],
    },
    setup: () => setupOf(settings.setup ?? null, source),
    steps,
    places: openCheckPlaces(dir, {
      folder: worktreeFolder,
      withLock: git.withLock,
      discard: (place) => discard({ ...context, home }, place),
    }),
    furnishing: context.furnishing,
    tryLock: git.tryLock,
    environment: env,
    sandbox,
    freeBytes: (folder) => context.disk.freeBytes(folder),
    tailLines: policy.finish.tailLines,
    graceMs: policy.removal.endGraceMs,
    keepLogsMs: policy.maintenance.logAgeMs,
  });
}

/** `setup` of copse.yml, even if it is empty; without it, the setup files of other tools. */
export function setupOf(said: readonly string[] | null, checkout: Checkout | null): CheckSetup {
  if (checkout === null) return { commands: said ?? [], environment: () => ({}), included: [] };
  const { folder, gitDir } = checkout;
  const files = runnableFiles({ commonDir: gitDir, configFolder: folder });
  return {
    commands: said ?? readForeignSetup(files).setup,
    environment: (worktree) => foreignEnvironment(folder, worktree, undefined),
    included: readIncludeFile(files).patterns,
  };
}

async function discard(
  { trash, clock, home }: WorkspaceContext,
  { path: folder, gitDir }: { readonly path: string | null; readonly gitDir: string | null },
): Promise<void> {
  const nothing = { branch: null, branchTip: null, head: null, base: null, rescue: null };
  const record = {
    ...nothing,
    task: queueAsTask,
    path: folder ?? '',
    at: clock.now(),
    why: 'leftover',
  } as const;
  await trash.put({ path: folder ?? path.join(home, '.copse', 'nowhere'), gitDir, record });
}
