/**
 * `sandbox: runtime`: programs run in Anthropic's sandbox-runtime (`srt`): bubblewrap on Linux, Seatbelt on macOS.
 *
 *   write settings and a script for this program → node srt --settings … sh script → cd, exec
 *
 * `srt` starts in an empty folder, and the script changes to the worktree. In the folder it starts in, `srt` mounts over
 * files like `.gitmodules` and `.vscode`; git sees these mounts as changes, and they remain as empty files when `srt` is
 * killed. In a worktree these are ordinary files, which are reviewed like others.
 *
 * The script holds the program and its arguments, because `srt` passes its own arguments as one argument of a shell, whose
 * length is limited. Programs inside the sandbox can write neither settings nor script.
 */

import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { RuntimeName } from '../rules/runtimes.ts';
import {
  type ProgramFacts,
  hiddenPlaces,
  hostsFor,
  isLoopback,
  programWriteSet,
} from '../rules/session/sandbox.ts';
import {
  ProgramMissing,
  type Confinable,
  NotConfined,
  type Sandbox,
} from '../../processes/ports/programs.ts';
import { keepCompiled } from './compiled.ts';
import { confinedEnvironment } from './environment.ts';
import { maskedConfigs } from './masked-config.ts';
import {
  type NewObjects,
  type Opened,
  type SandboxRepository,
  openPlaces,
  otherWorktrees,
  removePlaceholders,
} from './places.ts';
import { bwrapScript, programExists, scriptOf } from './script.ts';
import type { StoreMount } from '../../git/objects.ts';
import { isWithin } from '../../kernel/system/within.ts';

export interface SandboxSettings {
  readonly repository: SandboxRepository;
  /** The main checkout. */
  readonly root: string;
  /** For the sandbox's own files, beside the attempt's orders. */
  readonly folder: string;
  readonly runtime: RuntimeName | undefined;
  readonly command: string;
  /** Allowed by a person, beyond the needs of the agent's program. */
  readonly hosts: readonly string[];
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** The folder of all worktrees. */
  readonly worktreeFolder: string;
  readonly userHome: string;
  /** The person's environment. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Copse's cache of compiled code. */
  readonly compiled: string | undefined;
  /** Where checkouts for teardown commands are, those of other repositories too. */
  readonly teardowns: string | undefined;
  /** Where the tokens of running servers are. */
  readonly tokens: string | undefined;
  /** For commands that need write no object; see `NewObjects`. */
  readonly isWithoutObjects?: boolean;
  /** Finds a program that confines agents: outside of the repository, whatever the agent's own PATH is. */
  readonly find: (program: string) => string | undefined;
}

export interface RuntimeSandboxSettings extends SandboxSettings {
  /** The Node.js script of sandbox-runtime. */
  readonly srt: string;
  /** What is opened for the program; without it, what its task needs. */
  readonly open?: (program: Confinable) => Opened;
}

export function runtimeSandbox(settings: RuntimeSandboxSettings): Sandbox {
  const placeholders = new Set<string>();
  let programs = 0;
  return {
    wrap(program) {
      programs += 1;
      return wrap(settings, program, programs, placeholders);
    },
    close: () => removePlaceholders(placeholders),
  };
}

function wrap<P extends Confinable>(
  settings: RuntimeSandboxSettings,
  program: P,
  number: number,
  placeholders: Set<string>,
): P {
  const { repository, srt } = settings;
  const environment = { ...program.environment };
  if (!programExists(program))
    throw new ProgramMissing(
      `The program ${program.argv[0]} was not found. Install it, or correct the agent’s \`command\` in copse.yml.`,
    );
  const own = makeOwn(settings.folder);
  const folders = { empty: path.join(own, 'empty'), temporary: path.join(own, 'tmp') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const opened = settings.open?.(program) ?? openPlaces(program, repository, newObjectsOf(settings));
  opened.placeholders.forEach((file) => placeholders.add(file));
  const facts: ProgramFacts = {
    runtime: settings.runtime,
    command: settings.command,
    environment,
    home: environment['HOME'] ?? settings.userHome,
  };
  const hosts = hostsFor(facts, settings.hosts);
  const masks = maskedConfigs(configsOf(settings, facts), own);
  const write = [
    ...opened.write,
    folders.temporary,
    ...placesOfProgram(facts),
    ...allowedPlaces(settings, 'sandbox_write', settings.write),
  ];
  const files = { settings: path.join(own, `${number}.json`), script: path.join(own, `${number}.sh`) };
  writePrivately(files.script, scriptOf(program, { isLocal: hosts.some(isLoopback) }));
  writePrivately(
    files.settings,
    JSON.stringify(
      srtSettings({
        ...seenBy(settings, facts, [folders.empty, files.script]),
        write,
        keep: [...opened.keep, ...keepCompiled(settings.compiled, write)],
        hosts,
        find: settings.find,
        bwrap: bwrapWith(
          [...opened.mounts, ...masks],
          settings.find('bwrap'),
          path.join(own, `${number}.bwrap`),
        ),
      }),
    ),
  );
  return {
    ...program,
    argv: [process.execPath, srt, '--settings', files.settings, '--', '/bin/sh', files.script],
    folder: folders.empty,
    environment: withoutTemporary(
      confinedEnvironment(environment, { kind: 'runtime', temporary: folders.temporary }),
    ),
  };
}

/** Seatbelt, on macOS, cannot mount a folder at another path. */
function newObjectsOf({ isWithoutObjects = false }: SandboxSettings): NewObjects {
  if (isWithoutObjects) return 'none';
  return process.platform === 'linux' ? 'own' : 'shared';
}

/** `srt` gives each folder the same path inside, so a script of ours adds the other mounts to the arguments of bubblewrap. */
function bwrapWith(
  mounts: readonly StoreMount[],
  bwrap: string | undefined,
  file: string,
): string | undefined {
  if (mounts.length === 0 || bwrap === undefined) return bwrap;
  writeFileSync(file, bwrapScript(mounts, bwrap), { mode: 0o700 });
  return file;
}

/**
 * `srt` gives the program CLAUDE_CODE_TMPDIR, and puts its own sockets into TMPDIR. A socket's path must be short and free of
 * characters with a meaning for socat, so `srt` uses the default folder.
 */
function withoutTemporary(variables: Record<string, string>): Record<string, string> {
  const { TMPDIR: _, ...environment } = variables;
  return environment;
}

/** Without symbolic links: programs inside can write a part of it. */
export function makeOwn(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

function srtSettings({
  write,
  keep,
  hosts,
  find,
  hide,
  show,
  bwrap: bwrapPath,
}: {
  readonly write: readonly string[];
  readonly keep: readonly string[];
  readonly hosts: readonly string[];
  readonly find: SandboxSettings['find'];
  readonly hide: readonly string[];
  readonly show: readonly string[];
  readonly bwrap: string | undefined;
}): object {
  // Paths are literal: a star or a bracket in one is no pattern.
  const literally = (paths: readonly string[]) => paths.map((one) => ({ path: one, literal: true }));
  const [socatPath, rg] = [find('socat'), find('rg')];
  return {
    network: { allowedDomains: hosts, deniedDomains: [] },
    filesystem: {
      denyRead: literally(hide),
      allowRead: literally(show),
      allowWrite: literally(write),
      denyWrite: literally(keep),
    },
    allowPty: true,
    ...(bwrapPath && { bwrapPath }),
    ...(socatPath && { socatPath }),
    ...(rg && { ripgrep: { command: rg } }),
  };
}

/** Creates missing folders, because `srt` opens only existing paths; missing files are left out. */
function placesOfProgram(facts: ProgramFacts): readonly string[] {
  const { folders, files } = programWriteSet(facts);
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return [...folders, ...files.filter((file) => existsSync(file))].map((place) => realpathSync(place));
}

/** What of this machine is hidden, and what of that is shown all the same, as far as it is there. */
export function seenBy(
  settings: SandboxSettings,
  facts: ProgramFacts,
  own: readonly string[],
): { readonly hide: readonly string[]; readonly show: readonly string[] } {
  const { repository, worktreeFolder, userHome, root, teardowns, tokens, variables } = settings;
  const boardHome = realpathSync(repository.home);
  const elsewhere = otherWorktrees(repository.commonDir, [root, userHome, worktreeFolder, ...own]);
  const worktrees = [worktreeFolder, ...elsewhere, ...(teardowns === undefined ? [] : [teardowns])];
  const { hide, show } = hiddenPlaces(facts, { boardHome, own, worktrees, tokens, userHome, variables });
  const isThere = (place: string) => statSync(place, { throwIfNoEntry: false }) !== undefined;
  const needed = [root, facts.home, userHome, repository.commonDir].map(realIfThere);
  const read = allowedPlaces(settings, 'sandbox_read', settings.read);
  return {
    hide: hide
      .filter(canHide)
      .map((place) => realpathSync(place))
      // A variable may name a folder that has more than keys.
      .filter((place) => !needed.some((one) => isWithin(place, one))),
    show: [...show.filter(isThere).map((place) => realpathSync(place)), ...read],
  };
}

/** Files with git's settings that a program inside reads. */
function configsOf({ repository, userHome }: SandboxSettings, { home }: ProgramFacts): readonly string[] {
  const own = [home, userHome].flatMap((one) => [
    path.join(one, '.gitconfig'),
    path.join(one, '.config', 'git', 'config'),
  ]);
  return [path.join(repository.commonDir, 'config'), ...own];
}

/** Not a device: programs need /dev/null. */
function canHide(place: string): boolean {
  const found = statSync(place, { throwIfNoEntry: false });
  return found?.isFile() === true || found?.isDirectory() === true;
}

function realIfThere(place: string): string {
  return existsSync(place) ? realpathSync(place) : place;
}

export function allowedPlaces(
  { userHome, repository }: SandboxSettings,
  setting: 'sandbox_read' | 'sandbox_write',
  places: readonly string[],
): readonly string[] {
  return places.map((named) => {
    const place = path.resolve(
      repository.home,
      named.replace(/^~(?=\/|$)/, () => userHome),
    );
    if (statSync(place, { throwIfNoEntry: false }) === undefined)
      throw new NotConfined(
        `\`${setting}\` names ${place}, which does not exist: create it, or remove it from copse.yml.`,
      );
    return realpathSync(place);
  });
}

function writePrivately(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
}

/** Why sandbox-runtime cannot be used on this machine, or null. */
export async function runtimeProblem(
  srt: string | undefined,
  find: SandboxSettings['find'],
  tryOut: (argv: readonly [string, ...string[]]) => Promise<string | null>,
): Promise<string | null> {
  if (srt === undefined)
    return `the package ${PACKAGE} is not installed globally. Install it: npm install --global ${PACKAGE}`;
  if (process.platform === 'win32') return 'sandbox-runtime works on Linux and macOS only';
  const needed = process.platform === 'linux' ? ['bwrap', 'socat', 'rg'] : ['rg'];
  const missing = needed.filter((name) => find(name) === undefined);
  if (missing.length > 0) {
    const packages = missing.map((name) => SYSTEM_PACKAGES[name] ?? name).join(' ');
    const install = process.platform === 'linux' ? 'apt install' : 'brew install';
    return `${missing.join(', ')} not found: ${install} ${packages}`;
  }
  if (process.platform !== 'linux') return null;
  // Without its filter, programs inside reach every socket of this user: the keys of ssh, Docker, terminals.
  if (!['x64', 'arm64'].includes(process.arch))
    return `sandbox-runtime cannot keep programs from Unix sockets on ${process.arch}, only on x64 and arm64`;
  const said = await tryOut([
    find('bwrap') ?? 'bwrap',
    '--unshare-all',
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    'true',
  ]);
  return said === null ? null : `bubblewrap cannot create a sandbox on this machine: ${said}`;
}

export const PACKAGE = '@anthropic-ai/sandbox-runtime';

const SYSTEM_PACKAGES: Readonly<Record<string, string>> = { bwrap: 'bubblewrap', rg: 'ripgrep' };
