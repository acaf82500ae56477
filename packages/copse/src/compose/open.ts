/** The one file that names concrete adapters: from a folder and an environment to a board that can be used. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type BoardAddress, openBoard } from '../board/open.ts';
import { excludeFromGit } from '../git/directory/exclude.ts';
import { type Repository, findRepository } from '../git/directory/locate.ts';
import type { GitVersion } from '../git/version.ts';
import type { Context } from '../board/context.ts';
import type { ReportContext } from '../agents/act/report.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';
import { authorFrom } from '../board/rules/author.ts';
import { type NodeId, type TaskId, brand, drawId, timestamp } from '../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import { BoardUnavailable } from '../board/port.ts';
import type { Clock, Random } from '../kernel/clock.ts';
import { policyFrom } from '../config/effective.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { WorkspaceSettings } from '../config/workspace.ts';
import { workspaceDefaults } from '../config/workspace-defaults.ts';

export { findRepository, type Repository } from '../git/directory/locate.ts';

/** The addresses of remotes as they are now, to be used from now on; without the passwords in them. */
export async function acceptRemotes(surroundings: Surroundings): Promise<ReadonlyMap<string, string>> {
  const { openTrustedDir } = await import('../git/directory/trusted-dir.ts');
  const remote = await import('../git/refs/remote.ts');
  const repository = requireRepository(surroundings);
  prepareFolder(repository);
  const accepted = remote.acceptRemotes(openTrustedDir(repository));
  return new Map([...accepted].map(([name, url]) => [name, remote.withoutPassword(url)]));
}

export async function startBackground(argv: readonly string[], surroundings: Surroundings): Promise<void> {
  const background = await import('../processes/background.ts');
  const { programFile } = await import('./parts.ts');
  background.startBackground([programFile('cli'), ...argv], surroundings);
}

/** Joins the terminal of an agent. */
export async function joinTerminal(name: string, { env }: Surroundings): Promise<void> {
  const tmux = await import('../processes/tmux.ts');
  await tmux.attachTmux(name, { isInside: env['TMUX'] !== undefined });
}

/** False when the person has no pager. */
export async function showInPager(text: string, { env }: Surroundings): Promise<boolean> {
  const { page } = await import('../processes/pager.ts');
  return page(text, env['PAGER']);
}

export async function gitVersion(): Promise<GitVersion> {
  const git = await import('../git/version.ts');
  return git.gitVersion();
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function requireRepository({ cwd }: Surroundings): Repository {
  const repository = existsSync(cwd) ? findRepository(cwd) : undefined;
  if (repository) return repository;
  throw new BoardUnavailable(
    `${cwd} is not inside a git repository, so there is no board to find.`,
    'Go into a repository, or make one here: git init',
    { isMissing: true },
  );
}

const systemClock: Clock = { now: () => timestamp(Date.now()) };

/** Ids have to differ, not to be secret; loading `node:crypto` would cost a start-up a fifth of its time. */
const systemRandom: Random = () => Math.random();

/** What somebody read from copse.yml already. The board's address is then in the environment, or it is the usual one. */
interface KnownSettings {
  readonly agent?: Pick<Config, 'workspace' | 'landing'>;
  readonly policy?: Policy;
}

/** Opens the board of the repository around the folder, creating it on first use. */
export async function openContext(surroundings: Surroundings, known?: Policy): Promise<Context> {
  if (surroundings.env['COPSE_SANDBOX'])
    throw new BoardUnavailable(
      'The board cannot be reached from inside a sandbox.',
      'What you need to know is in AGENT_CONTEXT.md. Report with copse finish, stuck, phase or ledger add; what landed meanwhile you get with git merge "$COPSE_WORKTREE_BASE_BRANCH".',
    );
  const repository = requireRepository(surroundings);
  const { address, policy } = await settingsOf(repository, surroundings, known);
  if (address.engine === 'sqlite') prepareFolder(repository);
  const board = await openBoard(address, policy, { id: drawId('bo-', systemRandom), at: systemClock.now() });
  return { board, clock: systemClock, random: systemRandom, policy, by: authorFrom(surroundings.env) };
}

/** The same, with everything that worktrees need. Loaded only for commands that touch them. */
export async function openWorkspaceContext(
  surroundings: Surroundings,
  { agent, policy }: KnownSettings = {},
): Promise<WorkspaceContext> {
  const adapters = await import('./workspace-adapters.ts');
  const repository = requireRepository(surroundings);
  const context = await openContext(surroundings, policy);
  const { commonDir, home, configFolder } = repository;
  prepareFolder(repository);
  // What holds for an agent was put together when its task was claimed.
  const { workspace, target } = agent
    ? { workspace: agent.workspace, target: agent.landing.target }
    : await workspaceSettingsOf(repository);
  const isBare = !existsSync(path.join(configFolder, '.git')) || !existsSync(path.join(commonDir, 'index'));
  const dir = adapters.openTrustedDir(repository);
  const git = adapters.openGit(dir, context.policy);
  const trash = adapters.openTrash(home, dir.objectFormat);
  const occupancy = adapters.openOccupancy();
  const worktreeFolder = path.resolve(configFolder, workspace.worktree_dir);
  const pool = adapters.openPool(dir, {
    folder: path.join(worktreeFolder, '.pool'),
    withLock: git.withLock,
    tryLock: git.tryLock,
    discard: async ({ path: entry, gitDir, isProven }) => {
      // Somebody is in there: it stays, and is looked at again the next time.
      const inside = entry && (await occupancy.inside(entry, { roots: [], sessions: [] }));
      if (inside && (inside.kind === 'unknown' || inside.processes.length > 0)) return;
      const at = systemClock.now();
      const nothing = { branch: null, branchTip: null, head: null, base: null, rescue: null };
      const task = brand<TaskId>('pool');
      const record = {
        ...nothing,
        task,
        path: entry ?? '',
        at,
        why: isProven ? 'leftover' : 'broken',
      } as const;
      await trash.put({ path: entry ?? path.join(home, '.copse', 'nowhere'), gitDir, record });
    },
  });
  return {
    ...context,
    git,
    rescues: adapters.openRescues(dir),
    pool,
    sync: adapters.openSync(dir),
    diffs: adapters.openDiffs(dir),
    checkout: adapters.openCheckout(dir, configFolder),
    trash,
    furnishing: adapters.workspaceFurnishing(adapters.furnishingGit(dir)),
    occupancy,
    portProbe: adapters.portProbe,
    disk: adapters.disk,
    node: nodeHere(repository),
    root: configFolder,
    worktreeFolder,
    mainGitDir: isBare ? null : commonDir,
    home,
    settings: workspace,
    target,
  };
}

/** The same, with the file through which an agent and its runner talk. */
export async function openReportContext(surroundings: Surroundings): Promise<ReportContext> {
  const { openReports } = await import('../agents/files/report-file.ts');
  return { ...(await openWorkspaceContext(surroundings)), reports: openReports() };
}

/** Which machine, and which clone on it: worktrees belong to one. */
export function nodeHere(repository: Repository): NodeId {
  prepareFolder(repository);
  const file = path.join(repository.home, '.copse', 'node');
  try {
    writeFileSync(file, drawId('n-', systemRandom), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return brand(readFileSync(file, 'utf8').trim());
}

interface Settings {
  readonly address: BoardAddress;
  readonly policy: Policy;
}

async function settingsOf(
  repository: Repository,
  surroundings: Surroundings,
  known: Policy | undefined,
): Promise<Settings> {
  const file = path.join(repository.configFolder, 'copse.yml');
  const sqlite: BoardAddress = { engine: 'sqlite', file: boardFile(repository) };
  const named = surroundings.env['COPSE_BOARD'];
  const fromEnvironment: BoardAddress | undefined = named ? { engine: 'postgres', url: named } : undefined;
  if (known !== undefined || !existsSync(file))
    return { address: fromEnvironment ?? sqlite, policy: known ?? defaultPolicy };
  const config = await configOf(repository);
  const { board } = config;
  const fromFile: BoardAddress | undefined = board ? { engine: 'postgres', url: board } : undefined;
  return { address: fromEnvironment ?? fromFile ?? sqlite, policy: policyFrom(config) };
}

async function workspaceSettingsOf(
  repository: Repository,
): Promise<{ readonly workspace: WorkspaceSettings; readonly target: string | undefined }> {
  if (!existsSync(path.join(repository.configFolder, 'copse.yml'))) {
    return { workspace: workspaceDefaults(), target: undefined };
  }
  const { workspace, landing } = await configOf(repository);
  return { workspace, target: landing.target };
}

export async function configOf(repository: Repository): Promise<Config> {
  const text = readConfig(path.join(repository.configFolder, 'copse.yml'));
  if (text === undefined)
    throw new BoardUnavailable(
      'copse.yml is there but cannot be read.',
      'Check that it is a file that you may read.',
    );
  if (lastRead?.text === text) return lastRead.config;
  const config = await loadConfig(text);
  lastRead = { text, config };
  return config;
}

/** Several parts of a command ask for it. */
let lastRead: { readonly text: string; readonly config: Config } | undefined;

/** Undefined when it is there and cannot be read. */
export function readConfig(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch {
    return undefined;
  }
}

function boardFile(repository: Repository): string {
  return path.join(repository.home, '.copse', 'board.db');
}

function prepareFolder(repository: Repository): void {
  const folder = path.dirname(boardFile(repository));
  if (existsSync(boardFile(repository))) return;
  if (repository.home !== repository.commonDir) excludeFromGit(repository.commonDir, '/.copse/');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
