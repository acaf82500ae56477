/** Opens the board and the worktrees of a repository. Only compose/ names concrete adapters. */

import { openMemory } from '../kernel/system/json-file.ts';
import type { TrashClock } from '../workspaces/rules/sweep/trash-clock.ts';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type BoardAddress, openBoard } from '../board/open.ts';
import { boardOfRepository } from '../board/of-repository.ts';
import { type WorkingDirectory, placeOf } from '../git/directory/elsewhere.ts';
import { homedir } from 'node:os';
import { excludeFromGit } from '../git/directory/exclude.ts';
import type { TrustedDir } from '../git/process.ts';
import type { PowerFileContent } from '../git/accepted/files.ts';
import { acceptedFiles } from '../git/accepted/record.ts';
import { type Repository, findRepository as locateRepository } from '../git/directory/locate.ts';
import type { Context } from '../board/context.ts';
import type { ReportContext } from '../agents/act/report.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';
import type { CommandConfinement } from '../workspaces/files/furnish.ts';
import { authorFrom } from '../board/rules/author.ts';
import { type NodeId, type TaskId, brand, drawId, timestamp } from '../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import { type Board, BoardUnavailable } from '../board/port.ts';
import type { Patience } from '../board/patient.ts';
import type { Clock, Random } from '../kernel/clock.ts';
import { readOrdersOf } from '../agents/files/attempt-files.ts';
import { type EffectiveAgent, effectiveAgent, policyFrom } from '../config/effective.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { WorkspaceSettings } from '../config/workspace.ts';
import { workspaceDefaults } from '../config/workspace-defaults.ts';
import { RepositoryGone } from '../queue/context.ts';
import type { MergeMethod } from '../queue/rules/landing.ts';
import { privateCache } from '../kernel/system/private-cache.ts';
import { readIfThere } from '../kernel/system/plain-file.ts';

export { migratedVersion } from '../board/migrations/version.ts';
export { worktreeNameOf, type Repository } from '../git/directory/locate.ts';

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** With a folder for the board, or with none yet. */
export function findRepository(from: string): Repository | undefined {
  const repository = locateRepository(from);
  if (repository === undefined) return undefined;
  const own = path.join(repository.home, '.copse');
  const isOther = statSync(own, { throwIfNoEntry: false })?.isDirectory() === false;
  if (!isOther) return repository;
  throw new BoardUnavailable(
    `${own} is not a folder, and Copse keeps its board there.`,
    'copse status # after you move it away',
  );
}

export function requireRepository({ cwd }: Surroundings): Repository {
  const repository = existsSync(cwd) ? findRepository(cwd) : undefined;
  if (repository) return repository;
  throw new BoardUnavailable(
    `${cwd} is not inside a git repository, so there is no board.`,
    'git init # to create a repository here',
    { isMissing: true },
  );
}

const systemClock: Clock = { now: () => timestamp(Date.now()) };

/** Ids need not be secret, and loading `node:crypto` would slow down the start by a fifth. */
const systemRandom: Random = () => Math.random();

/** Settings that the caller has already read. The board's address is then in the environment, or the default. */
interface KnownSettings extends OpenContextOptions {
  readonly agent?: Pick<Config, 'workspace' | 'landing'> &
    Partial<Pick<EffectiveAgent, 'name' | 'working_directory'>>;
  readonly policy?: Policy;
  /** The control group of the attempt for which this process works. */
  readonly group?: string;
  /** The parts of another repository than the board's, and the board that is open already. */
  readonly at?: { readonly repository: Repository; readonly context?: Context };
}

export interface OpenContextOptions {
  /** For processes that run long: they wait for a board whose server is away. */
  readonly patience?: Patience | undefined;
  /** Holds as few connections as possible, and waits for the board at the start too. */
  readonly isRunner?: boolean;
  /** For commands that put back a board that was lost: they begin with an empty one. */
  readonly mayReplaceLost?: boolean;
  /** A board that is open already, and that the caller of this closes as its own. */
  readonly lent?: Board | undefined;
  /** For `copse board migrate`. */
  readonly migration?: {
    readonly isForced: boolean;
    readonly onMigrated: (from: number, to: number) => void;
  };
}

/** Opens the board of the repository around the folder, creating it on first use. */
export async function openContext(
  surroundings: Surroundings,
  known?: Policy,
  { mayReplaceLost = false, patience, isRunner = false, migration, lent }: OpenContextOptions = {},
): Promise<Context> {
  if (surroundings.env['COPSE_SANDBOX'])
    throw new BoardUnavailable(
      'The board cannot be reached from inside a sandbox.',
      'Run it with the variables that the agent was started with, COPSE_RUNNER_FOLDER among them: its runner answers. Your context is in AGENT_CONTEXT.md.',
    );
  const repository = requireRepository(surroundings);
  const ofAttempt = known ?? attemptSettings(repository, surroundings)?.policy;
  const { address, policy } = await settingsOf(repository, surroundings, ofAttempt);
  const by = authorFrom(surroundings.env);
  if (lent !== undefined) return { board: lent, clock: systemClock, random: systemRandom, policy, by };
  if (address.engine === 'sqlite') {
    if (!mayReplaceLost && isWithoutBoard(address.file)) await refuseLost(repository, address.file);
    prepareFolder(repository);
  }
  const bell = path.join(repository.home, '.copse', 'board-changed');
  const open = () =>
    openBoard(
      address,
      policy,
      { id: drawId('bo-', systemRandom), at: systemClock.now() },
      { mayMigrate: (from, to) => refuseMigration(repository, from, to), isRunner, bell, ...migration },
    );
  const board = patience === undefined ? await open() : await openWaiting(open, patience, { isRunner });
  return { board, clock: systemClock, random: systemRandom, policy, by };
}

/** A person who starts an orchestrator is told at once that the board cannot be reached; a runner waits. */
async function openWaiting(
  open: () => Promise<Board>,
  patience: Patience,
  { isRunner }: { readonly isRunner: boolean },
): Promise<Board> {
  const { openPatiently, patientBoard } = await import('../board/patient.ts');
  return patientBoard(await (isRunner ? openPatiently(open, patience) : open()), patience);
}

/** False: no board was ever made here. Throws when there was one and it is gone. */
export async function hasBoard(surroundings: Surroundings): Promise<boolean> {
  const repository = requireRepository(surroundings);
  const { address } = await settingsOf(repository, surroundings);
  if (address.engine !== 'sqlite' || !isWithoutBoard(address.file)) return true;
  await refuseLost(repository, address.file);
  return false;
}

/** Another value: the file of the board was removed or replaced, and a process that has it open reads the old one. */
export function boardMark(repository: Repository): string {
  const found = statSync(boardFile(repository), { throwIfNoEntry: false });
  return found === undefined ? 'absent' : `${found.dev}:${found.ino}`;
}

function isWithoutBoard(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Loaded only when needed: most commands find a board of their own version. */
async function refuseLost(repository: Repository, file: string): Promise<void> {
  const { refuseLostBoard } = await import('./board/lost.ts');
  refuseLostBoard(repository, file);
}

async function refuseMigration({ home }: Repository, from: number, to: number): Promise<void> {
  const { refuseMigrationBeside } = await import('./board/who-runs.ts');
  await refuseMigrationBeside(home, from, to);
}

/** Opens the board and everything that worktrees need; the adapters are loaded only then. */
export async function openWorkspaceContext(
  surroundings: Surroundings,
  known: KnownSettings = {},
): Promise<WorkspaceContext> {
  const { context } = await openWorkspaces(surroundings, known);
  return context;
}

/** The same in another repository, with the settings of the agent that works there; of no agent, if that was changed since. */
export async function openWorkspacesAt(
  surroundings: Surroundings,
  root: string,
  lent?: Board,
): Promise<WorkspaceContext> {
  const board = requireRepository(surroundings);
  const rootOf = await rootsOf(board, surroundings);
  const config = await configOf(board);
  const name = Object.keys(config.agents).find((one) => rootOf(one) === root);
  const agent = name === undefined ? undefined : effectiveAgent(config, name);
  const repository = existsSync(root) ? findRepository(root) : undefined;
  if (repository === undefined) throw new RepositoryGone(root);
  return openWorkspaceContext(surroundings, { ...(agent && { agent }), at: { repository }, lent });
}

/** With the git directory that it uses: one more would have caches and long-lived gits of its own. */
export async function openWorkspaces(
  surroundings: Surroundings,
  known: KnownSettings = {},
): Promise<{
  readonly context: WorkspaceContext;
  readonly dir: TrustedDir;
  readonly whole: Context;
  readonly repository: Repository;
}> {
  const adapters = await import('./workspace-adapters.ts');
  const ofBoard = requireRepository(surroundings);
  const { home } = ofBoard;
  const { agent, policy } = known.agent ? known : (attemptSettings(ofBoard, surroundings) ?? known);
  const { mayReplaceLost = false, patience, isRunner = false, lent } = known;
  const repository = known.at?.repository ?? repositoryFor(ofBoard, agent, surroundings) ?? ofBoard;
  const root = repository.commonDir === ofBoard.commonDir ? null : repository.configFolder;
  const open = () => openContext(surroundings, policy, { mayReplaceLost, patience, isRunner, lent });
  const whole = known.at?.context ?? (await open());
  const rootOf = await rootsOf(ofBoard, surroundings, known.at ? undefined : agent);
  const context = { ...whole, board: boardOfRepository(whole.board, { root, rootOf }) };
  const { commonDir, configFolder } = repository;
  prepareFolder(ofBoard);
  prepareFolder(repository);
  // An agent's settings were computed when its task was claimed.
  const { workspace, target, method } = agent
    ? { workspace: agent.workspace, target: agent.landing.target, method: agent.landing.method }
    : await workspaceSettingsOf(ofBoard);
  const isBare = !existsSync(path.join(configFolder, '.git')) || !existsSync(path.join(commonDir, 'index'));
  const dir = adapters.openTrustedDir(repository);
  const git = adapters.openGit(dir, context.policy);
  const trash = adapters.openTrash(repository.home, dir.objectFormat);
  const occupancy = adapters.openOccupancy();
  const worktreeFolder = path.resolve(configFolder, workspace.worktree_dir);
  const pool = adapters.openPool(dir, {
    folder: path.join(worktreeFolder, '.pool'),
    withLock: git.withLock,
    tryLock: git.tryLock,
    discard: async ({ path: entry, gitDir, isProven }) => {
      // A process is in there: the entry stays until the next time.
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
      await trash.put({ path: entry ?? path.join(repository.home, '.copse', 'nowhere'), gitDir, record });
    },
  });
  const workspaces: WorkspaceContext = {
    ...context,
    git,
    rescues: adapters.openRescues(dir, context.policy.travel),
    pool,
    sync: adapters.openSync(dir),
    diffs: adapters.openDiffs(dir),
    checkout: adapters.openCheckout(dir, configFolder),
    trash,
    furnishing: adapters.workspaceFurnishing(adapters.furnishingGit(dir), {
      confinement: lateConfinement(async () => {
        const { workspaceConfinement } = await import('./run/workspace-confinement.ts');
        const { env } = surroundings;
        const config = () => configOf(ofBoard);
        return workspaceConfinement({ repository, worktreeFolder, env, config, own: agent });
      }),
      group: known.group,
      teardowns: () => privateCache(surroundings.env, 'copse-teardown'),
    }),
    occupancy,
    runners: adapters.knownRunners(home),
    portProbe: adapters.portProbe,
    disk: adapters.disk,
    trashClock: openMemory<TrashClock>(home, 'trash-clock'),
    node: nodeHere(ofBoard),
    root: configFolder,
    worktreeFolder,
    mainGitDir: isBare ? null : commonDir,
    home,
    settings: workspace,
    settingsOf: async (name) => {
      const { effectiveAgent } = await import('../config/effective.ts');
      return effectiveAgent(await configOf(ofBoard), name)?.workspace;
    },
    target,
    method,
  };
  return { context: workspaces, dir, whole, repository };
}

/** Where an agent with a `working_directory` works; undefined: in the repository of the board. */
function repositoryFor(
  board: Repository,
  agent: KnownSettings['agent'],
  { env }: Surroundings,
): Repository | undefined {
  if (agent?.working_directory === undefined) return undefined;
  const place = placeOf(board, agent.working_directory, env['HOME'] ?? homedir());
  if (place.kind === 'own') return undefined;
  if (place.kind === 'elsewhere') return place.repository;
  throw new BoardUnavailable(
    `${place.reason}.`,
    'copse doctor # after you correct working_directory in copse.yml',
  );
}

/** Where each agent of copse.yml works; null: in the repository of the board. */
export async function rootsOf(
  board: Repository,
  surroundings: Surroundings,
  known?: KnownSettings['agent'],
): Promise<(agent: string) => string | null> {
  const { env } = surroundings;
  // A command of an attempt goes by the settings that the attempt was started with.
  const own = known ?? attemptSettings(board, surroundings)?.agent;
  const agents: Placed = own?.name === undefined ? await agentsConfigured(board) : { [own.name]: own };
  const roots = new Map<string, string>();
  for (const [name, { working_directory: wanted }] of Object.entries(agents)) {
    const place = wanted && placeOf(board, wanted, env['HOME'] ?? homedir());
    if (place && place.kind !== 'own') roots.set(name, place.root);
  }
  return (agent) => roots.get(agent) ?? null;
}

type Placed = Readonly<Record<string, { readonly working_directory?: WorkingDirectory | undefined }>>;

async function agentsConfigured(board: Repository): Promise<Placed> {
  return acceptedConfig(board).kind === 'absent' ? {} : (await configOf(board)).agents;
}

/** Loaded only when a worktree is made ready or torn down. */
function lateConfinement(load: () => Promise<CommandConfinement>): CommandConfinement {
  return {
    isNeeded: async (of, recorded) => (await load()).isNeeded(of, recorded),
    open: async (of) => (await load()).open(of),
  };
}

/** Opens the same, and the report file of the agent. */
export async function openReportContext(surroundings: Surroundings): Promise<ReportContext> {
  const context = await openWorkspaceContext(surroundings);
  return { ...context, ...(await openReporting(context)) };
}

export async function openReporting({ home }: Pick<Repository, 'home'>) {
  const { openReports } = await import('../agents/files/report-file.ts');
  const { openArtifacts } = await import('../agents/files/artifacts.ts');
  return { reports: openReports(), artifacts: openArtifacts(home) };
}

/** The id of this clone on this machine, which worktrees belong to. */
export function nodeHere(repository: Repository): NodeId {
  prepareFolder(repository);
  const file = path.join(repository.home, '.copse', 'node');
  try {
    writeFileSync(file, drawId('n-', systemRandom), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return brand(readIfThere(file)?.trim() ?? '');
}

interface BoardSettings {
  readonly address: BoardAddress;
  readonly policy: Policy;
}

export async function settingsOf(
  repository: Repository,
  surroundings: Surroundings,
  known?: Policy,
): Promise<BoardSettings> {
  const sqlite: BoardAddress = { engine: 'sqlite', file: boardFile(repository) };
  const named = surroundings.env['COPSE_BOARD'];
  const fromEnvironment: BoardAddress | undefined = named ? { engine: 'postgres', url: named } : undefined;
  if (known !== undefined || acceptedConfig(repository).kind === 'absent')
    return { address: fromEnvironment ?? sqlite, policy: known ?? defaultPolicy };
  const config = await configOf(repository);
  const { board } = config;
  const fromFile: BoardAddress | undefined = board ? { engine: 'postgres', url: board } : undefined;
  return { address: fromEnvironment ?? fromFile ?? sqlite, policy: policyFrom(config) };
}

async function workspaceSettingsOf(repository: Repository): Promise<{
  readonly workspace: WorkspaceSettings;
  readonly target: string | undefined;
  readonly method: MergeMethod;
}> {
  if (acceptedConfig(repository).kind === 'absent')
    return { workspace: workspaceDefaults(), target: undefined, method: defaultPolicy.landing.method };
  const { workspace, landing } = await configOf(repository);
  return { workspace, target: landing.target, method: landing.method };
}

/** By the accepted copse.yml. Without a file, the defaults. */
export async function configOf(repository: Repository): Promise<Config> {
  const found = acceptedConfig(repository);
  if (found.kind === 'unclear')
    throw new BoardUnavailable(
      'copse.yml exists but cannot be read.',
      'Check that it is a file with read permission, and not a link.',
    );
  const text = found.kind === 'absent' ? '' : found.text;
  if (lastRead?.text === text) return lastRead.config;
  const config = await loadConfig(text, found.kind === 'text' ? found.value : undefined);
  lastRead = { text, config };
  return config;
}

/** Cached, because several parts of a command need it. */
let lastRead: { readonly text: string; readonly config: Config } | undefined;

function acceptedConfig(repository: Repository): PowerFileContent {
  return acceptedFiles(repository).read('copse.yml');
}

/** The settings of the attempt that this command belongs to: later changes of copse.yml do not concern it. */
export function attemptSettings(
  repository: Repository,
  { env }: Surroundings,
): { readonly agent: EffectiveAgent; readonly policy: Policy } | undefined {
  const attempt = env['COPSE_SETTINGS_OF'] ?? env['COPSE_ATTEMPT_ID'];
  if (attempt === undefined || !/^at-\w+$/.test(attempt)) return undefined;
  const { settings } = readOrdersOf(repository.home, brand(attempt)) ?? {};
  return (settings ?? undefined) as ReturnType<typeof attemptSettings>;
}

export function boardFile(repository: Repository): string {
  return path.join(repository.home, '.copse', 'board.db');
}

/** Creates `.copse` for a new board, hidden from git. */
export function prepareFolder(repository: Repository): void {
  const folder = path.dirname(boardFile(repository));
  if (existsSync(boardFile(repository))) return;
  if (repository.home !== repository.commonDir) excludeFromGit(repository.commonDir, '/.copse/');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
