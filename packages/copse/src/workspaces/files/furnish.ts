/**
 * Makes a fresh worktree ready to use: Copse's own folder, the files that git ignores, submodules, large files, and the
 * commands of the person.
 *
 * Every step may be repeated, and existing files stay as they are. After the last step that is recorded, and from then on
 * nothing is done: an agent may have deleted a file on purpose. Commands that fail are run again by the next preparation.
 *
 * Set-up runs with the person's rights in files of the base, which have landed. In any other files, and with an agent that
 * has or had a sandbox, it runs in a sandbox or fails; so does teardown.
 */

import { existsSync, realpathSync } from 'node:fs';
import { lstat, mkdir, readlink, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';

import type {
  Brought,
  Checkout,
  CommandsOutcome,
  DismantleRequest,
  FurnishReport,
  FurnishRequest,
  Furnishing,
  FurnishingGit,
  Skipped,
} from '../ports/furnishing.ts';
import { type RunnableFiles, runnableFiles } from '../../git/accepted/save.ts';
import type { AgentName, AttemptId, TaskId } from '../../kernel/ids.ts';
import { NotConfined, type Sandbox } from '../../processes/ports/programs.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { isWithin } from '../../kernel/system/within.ts';
import { bringFiles } from './bring-files.ts';
import { notStarted, runOrFail } from './commands.ts';
import { foreignEnvironment, readForeignSetup } from './foreign-setup.ts';
import { readRecord, startOver, writeRecord } from './furnish-record.ts';
import { anchored, isOff, readIncludeFile, wantedPaths } from './include-file.ts';
import { NotInside } from '../../kernel/system/in-folder.ts';
import { kindOf, realFolder } from './inside.ts';

/** What Copse writes into a worktree, as patterns for git. */
function ownExcludes(): readonly string[] {
  return ['/.copse/', '/AGENT_CONTEXT.md', '/.claude/settings.local.json'];
}

/** The sandbox of an agent, and the variables that its programs get of this process. */
export interface Confined {
  readonly sandbox: Sandbox;
  readonly attempt: AttemptId;
  readonly environment: Readonly<Record<string, string>>;
}

export interface ConfinedStep {
  readonly step: 'setup' | 'teardown';
  /** Null if not known. */
  readonly agent: AgentName | null;
  readonly task: TaskId;
  /** A further folder that its programs read and write. */
  readonly opens?: string;
}

export interface CommandConfinement {
  /** Whether an agent with a sandbox wrote the files: by the settings, or as recorded (null if it is not). */
  isNeeded(of: ConfinedStep, recorded: boolean | null): Promise<boolean>;
  open(of: ConfinedStep): Promise<Confined>;
}

const UNCONFINED: CommandConfinement = {
  isNeeded: () => Promise.resolve(false),
  open: () => Promise.reject(new NotConfined('There is no sandbox.')),
};

export interface FurnishingPlaces {
  readonly confinement?: CommandConfinement;
  /** The control group of the attempt for which set-up runs. */
  readonly group?: string | undefined;
  /** Outside of the repository, for checkouts of the base; undefined where no folder is this user's alone. */
  readonly teardowns: () => string | undefined;
}

export function workspaceFurnishing(
  git: FurnishingGit,
  { confinement = UNCONFINED, group, teardowns }: FurnishingPlaces,
): Furnishing {
  return {
    furnish: (request) => furnish(git, request, confinement, group),
    dismantle: (request) => dismantle(git, request, confinement, teardowns),
    startOver,
  };
}

async function furnish(
  git: FurnishingGit,
  request: FurnishRequest,
  confinement: CommandConfinement,
  group: string | undefined,
): Promise<FurnishReport> {
  const { record, task, agent = null } = request;
  const known = readRecord(record);
  const isAsBase = request.isAsBase || known.isAsBase;
  const of = { step: 'setup', agent, task } as const;
  const isConfined = await confinement.isNeeded(of, known.isConfined ?? (isAsBase ? false : null));
  if (!known.isSetUp) writeRecord(record, { isSetUp: false, isAsBase, isConfined });
  else if (isConfined !== known.isConfined) writeRecord(record, { ...known, isConfined });
  if (known.isSetUp) return { ...NOTHING, setup: { kind: 'done', ran: 0 } };
  const notes = [
    ...(await excludeOwnFiles(git, request)),
    ...(await makeOwnFolder(request.target.folder, request.home)),
  ];
  const files = request.source === null ? NOTHING : await bring(git, request, request.source);
  const submodules = await git.submodules(request.target, request.commit);
  notes.push(...(await git.largeFiles(request.target, { isFresh: request.isFresh })));
  const confine = isConfined && !isAsBase ? () => confinement.open(of) : undefined;
  const setup = await runSetup(request, notes, { confine, group });
  if (setup.kind === 'done') writeRecord(record, { isSetUp: true, isAsBase: false, isConfined });
  return { ...files, submodules, notes, setup };
}

const NOTHING = { brought: [], linked: [], skipped: [], submodules: [], notes: [] } as const;

/** Without touching a tracked file: a repository that tracks one of these names keeps it. */
async function excludeOwnFiles(
  git: FurnishingGit,
  { target, source, never }: FurnishRequest,
): Promise<readonly string[]> {
  const inside = never.filter(
    (folder) => source !== null && folder !== source.folder && isWithin(source.folder, folder),
  );
  const folders = inside.map((folder) => `${anchored(path.relative(source?.folder ?? '', folder))}/`);
  git.exclude([...ownExcludes(), ...folders]);
  const names = ownExcludes().map((pattern) => pattern.replaceAll(/^\/|\/$/g, ''));
  const tracked = await git.tracked(target, names);
  return tracked.map((file) => `The repository tracks ${file}, so Copse leaves it alone.`);
}

/** Makes `.copse` with a link to the files that all worktrees share. Returns a note for each file or link that blocks it. */
async function makeOwnFolder(worktree: string, home: string): Promise<readonly string[]> {
  const shared = path.join(home, '.copse', 'shared');
  await mkdir(shared, { recursive: true });
  try {
    const own = await realFolder(worktree, '.copse');
    const at = path.join(own, 'shared');
    if ((await kindOf(at)) === 'nothing') await symlink(shared, at);
    const isOurs = (await kindOf(at)) === 'link' && (await readlink(at)) === shared;
    return isOurs ? [] : [`.copse/shared in the worktree is not Copse’s link and was left alone: ${at}`];
  } catch (error) {
    if (error instanceof NotInside)
      return [`Copse has no folder of its own in the worktree: ${error.message}`];
    throw error;
  }
}

type IgnoredFilesRequest = Pick<FurnishRequest, 'never' | 'settings' | 'target'>;

interface FilesBrought {
  readonly brought: readonly Brought[];
  readonly linked: readonly string[];
  readonly skipped: readonly Skipped[];
}

async function bring(
  git: FurnishingGit,
  request: IgnoredFilesRequest,
  from: Checkout,
): Promise<FilesBrought> {
  const source = { ...from, folder: realpathSync(from.folder) };
  const never = request.never.map((folder) => (existsSync(folder) ? realpathSync(folder) : folder));
  const included = readIncludeFile(accepted(from));
  const copy = wantedPaths(request.settings.copy, 'workspace.copy', source.folder);
  const link = wantedPaths(request.settings.link, 'workspace.link', source.folder);
  const skipped: Skipped[] = [...included.refused, ...copy.refused, ...link.refused];
  const isAllowed = (entry: string): boolean =>
    !isOff(entry) && !never.some((folder) => isWithin(folder, path.join(source.folder, entry)));
  const [toLink, toCopy] = await Promise.all([
    git.ignoredMatching(source, link.patterns),
    git.ignoredMatching(source, [...included.patterns, ...copy.patterns]),
  ]).then((lists) => lists.map((list) => list.filter(isAllowed)) as [string[], string[]]);
  skipped.push(
    ...unmatched(copy.named, toCopy, source.folder),
    ...unmatched(link.named, toLink, source.folder),
  );

  const linked = await makeLinks(git, { source, target: request.target, paths: toLink, skipped });
  const links = new Set(toLink.map(withoutSlash));
  const rest = toCopy.filter((entry) => ![...links].some((at) => entry === at || entry.startsWith(`${at}/`)));
  const ignored = await git.wouldIgnore(request.target, rest);
  for (const entry of rest)
    if (!ignored.has(entry)) skipped.push({ path: withoutSlash(entry), why: NOT_IGNORED });
  const paths = rest.filter((entry) => ignored.has(entry));
  const copied = await bringFiles({ source: source.folder, target: request.target.folder, paths, never });
  return { brought: copied.brought, linked, skipped: [...skipped, ...copied.skipped] };
}

const NOT_IGNORED = 'Git does not ignore it on this branch, so an agent would commit it.';

/** Entries of copse.yml that name one file or folder which is not brought, with the reason. */
function unmatched(named: readonly string[], found: readonly string[], checkout: string): readonly Skipped[] {
  const isFound = (entry: string): boolean =>
    found.some(
      (one) =>
        withoutSlash(one) === entry ||
        one.startsWith(`${entry}/`) ||
        (one.endsWith('/') && entry.startsWith(one)),
    );
  return named
    .filter((entry) => !isFound(entry))
    .map((entry) => ({
      path: entry,
      why: existsSync(path.join(checkout, entry))
        ? 'Git does not ignore it in the main checkout, so it is not brought.'
        : 'It is not in the main checkout.',
    }));
}

interface Links {
  readonly source: Checkout;
  readonly target: Checkout;
  readonly paths: readonly string[];
  readonly skipped: Skipped[];
}

async function makeLinks(
  git: FurnishingGit,
  { source, target, paths, skipped }: Links,
): Promise<readonly string[]> {
  const linked: string[] = [];
  const plain = paths.map(withoutSlash);
  const ignored = await git.wouldIgnore(target, [...new Set([...paths, ...plain])]);
  for (const [index, entry] of plain.entries()) {
    const asFolder = paths[index] ?? entry;
    const why =
      ignored.has(entry) || ignored.has(asFolder)
        ? await makeLink(entry, source.folder, target.folder)
        : NOT_IGNORED;
    if (why !== undefined) {
      skipped.push({ path: entry, why });
      continue;
    }
    // `node_modules/` ignores a folder and not a link to one, which would then be committed.
    if (!ignored.has(entry)) git.exclude([anchored(entry)]);
    linked.push(entry);
  }
  return linked;
}

/** Why not, or undefined when it was made. */
async function makeLink(entry: string, source: string, target: string): Promise<string | undefined> {
  const to = path.join(source, entry);
  if (!isWithin(source, await realpath(to))) return 'It leads outside the main checkout.';
  try {
    const at = path.join(await realFolder(target, path.posix.dirname(entry)), path.posix.basename(entry));
    if ((await kindOf(at)) !== 'nothing') return 'It already exists.';
    await symlink(to, at, (await lstat(to)).isDirectory() ? 'dir' : 'file');
    return undefined;
  } catch (error) {
    if (error instanceof NotInside) return error.message;
    throw error;
  }
}

async function runSetup(
  request: FurnishRequest,
  notes: string[],
  {
    confine,
    group,
  }: { readonly confine: (() => Promise<Confined>) | undefined; readonly group: string | undefined },
): Promise<CommandsOutcome> {
  const { commands, foreign } = commandsOf(request, 'setup');
  notes.push(...foreign.notes);
  if (foreign.from !== null && commands.length > 0)
    notes.push(`Set up as ${foreign.from} says, because copse.yml has no workspace.setup.`);
  if (commands.length === 0) return { kind: 'done', ran: 0 };
  const confined = await confine?.();
  try {
    return await run(request, 'setup', commands, { confined, group });
  } finally {
    confined?.sandbox.close();
  }
}

/**
 * In a checkout of the base that is made for this and deleted afterwards: scripts, package.json and Makefile of the worktree are
 * the agent's. It is outside of the repository, because tools look for such files in all folders above; its name is the
 * worktree's, which `docker compose` uses. In the agent's sandbox, since data in the worktree is the agent's too.
 */
async function dismantle(
  git: FurnishingGit,
  request: DismantleRequest,
  confinement: CommandConfinement,
  teardowns: FurnishingPlaces['teardowns'],
): Promise<CommandsOutcome> {
  const { commands } = commandsOf(request, 'teardown');
  if (commands.length === 0) return { kind: 'done', ran: 0 };
  const of = { step: 'teardown', agent: request.agent ?? null, task: request.task } as const;
  const isConfined = await confinement.isNeeded(of, readRecord(request.record).isConfined);
  const withIndex = (work: (above: string, gitDir: string) => Promise<CommandsOutcome>) =>
    git.withScratch((above) => git.withScratch((gitDir) => work(above, gitDir)), requirePlace(teardowns()));
  try {
    return await withIndex(async (above, gitDir) => {
      const base = { folder: path.join(above, path.basename(request.target.folder)), gitDir };
      await writeBase(git, request, base);
      const confined = isConfined ? await confinement.open({ ...of, opens: above }) : undefined;
      try {
        return await run(request, 'teardown', commands, { confined, startIn: base.folder });
      } finally {
        confined?.sandbox.close();
      }
    });
  } catch (error) {
    if (!(error instanceof Unavailable || isOfSystem(error))) throw error;
    return notStarted({ name: 'teardown', commands, logFolder: logsOf(request) }, error.message);
  }
}

function requirePlace(folder: string | undefined): string {
  if (folder !== undefined) return folder;
  throw new Unavailable(
    'There is no cache folder that only this user can write, for a checkout of the base.',
    'Set HOME or XDG_CACHE_HOME to a folder of yours.',
  );
}

/** A full disk, for example: the removal that frees it goes on. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}

/** What a fresh worktree has before its set-up. */
async function writeBase(git: FurnishingGit, request: DismantleRequest, target: Checkout): Promise<void> {
  const { base, source, sparse } = request;
  if (base === null) throw new Unavailable('The base branch of the worktree is not known.', NAME_A_TARGET);
  await git.writeOut(base, target, sparse);
  if (source !== null) await bring(git, { ...request, target }, source);
}

const NAME_A_TARGET = 'Set `landing.target` in copse.yml.';

/** The commands of copse.yml, even an empty list; files of other tools only if it has no such setting. */
function commandsOf(
  { settings, source }: Pick<DismantleRequest, 'settings' | 'source'>,
  name: 'setup' | 'teardown',
) {
  const said = settings[name];
  const isSilent = said === null && settings.setup === null && source !== null;
  const foreign = isSilent
    ? readForeignSetup(accepted(source))
    : { setup: [], teardown: [], from: null, notes: [] };
  return { commands: said ?? foreign[name], foreign };
}

/** What a person accepted of the main checkout. */
function accepted({ folder, gitDir }: Checkout): RunnableFiles {
  return runnableFiles({ commonDir: gitDir, configFolder: folder });
}

function run(
  request: Omit<DismantleRequest, 'base' | 'sparse'>,
  name: 'setup' | 'teardown',
  commands: readonly string[],
  how: {
    readonly confined?: Confined | undefined;
    readonly startIn?: string;
    readonly group?: string | undefined;
  },
): Promise<CommandsOutcome> {
  const { target, source, env, settings } = request;
  const { confined, startIn, group } = how;
  const others = source === null ? {} : foreignEnvironment(source.folder, target.folder, env['COPSE_PORT']);
  return runOrFail({
    name,
    commands,
    // A sandbox opens the worktree.
    folder: startIn !== undefined && confined === undefined ? startIn : target.folder,
    // A folder above it may be a repository too, a home for example.
    env: {
      ...confined?.environment,
      ...others,
      ...env,
      ...(startIn && { GIT_CEILING_DIRECTORIES: path.dirname(startIn) }),
    },
    ...(startIn && { leavesNothing: true }),
    ...(confined && { confined, isWhole: true, ...(startIn && { startIn }) }),
    timeoutMs: settings.commandTimeoutMs,
    logFolder: logsOf(request),
    group,
  });
}

function logsOf({ home, task }: Pick<DismantleRequest, 'home' | 'task'>): string {
  return path.join(home, '.copse', 'logs', task);
}

function withoutSlash(entry: string): string {
  return entry.replace(/\/$/, '');
}
