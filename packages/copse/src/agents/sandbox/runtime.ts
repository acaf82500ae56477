/**
 * `sandbox: runtime`: programs run in Anthropic's sandbox-runtime (`srt`): bubblewrap on Linux, Seatbelt on macOS.
 *
 *   settings and a script for this one program → node srt --settings … sh script → cd, exec
 *
 * It is started in an empty folder, and the script goes to the worktree. What `srt` finds in the folder it is started in
 * (`.gitmodules`, `.vscode` and the like) it protects against its user's programs, by mounts that git takes for changes and
 * that stay behind as empty files when it is killed. In a worktree these are files like others, and reviewed like others.
 *
 * The program and its arguments are in the script, because the arguments of `srt` become one argument of a shell, which may
 * not be long. Neither settings nor script can be written from within.
 */

import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type ProgramFacts, hostsFor, isLoopback, programWriteSet } from '../rules/session/sandbox.ts';
import {
  ProgramMissing,
  type Confinable,
  NotConfined,
  type Sandbox,
} from '../../processes/ports/programs.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { confinedEnvironment } from './environment.ts';
import { type Repository, openPlaces, takeAway } from './places.ts';
import { isThere, scriptOf } from './script.ts';

export interface SandboxSettings {
  readonly repository: Repository;
  /** For what the sandbox itself needs; beside the orders of the attempt. */
  readonly folder: string;
  readonly runtime: string | undefined;
  readonly command: string;
  /** What a person allows beyond what the agent's program needs. */
  readonly hosts: readonly string[];
  readonly write: readonly string[];
  readonly userHome: string;
}

export interface RuntimeSandboxSettings extends SandboxSettings {
  /** The program of sandbox-runtime, as a script for Node.js. */
  readonly srt: string;
}

export function runtimeSandbox(settings: RuntimeSandboxSettings): Sandbox {
  const placeholders = new Set<string>();
  let programs = 0;
  return {
    wrap(program) {
      programs += 1;
      return wrap(settings, program, programs, placeholders);
    },
    close: () => takeAway(placeholders),
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
  if (!isThere(program))
    throw new ProgramMissing(
      `The program ${program.argv[0]} is not there. Install it, or correct the agent’s \`command\` in copse.yml.`,
    );
  const own = makeOwn(settings.folder);
  const folders = { empty: path.join(own, 'empty'), temporary: path.join(own, 'tmp') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const opened = openPlaces(program, repository);
  opened.placeholders.forEach((file) => placeholders.add(file));
  const facts: ProgramFacts = {
    runtime: settings.runtime,
    command: settings.command,
    environment,
    home: environment['HOME'] ?? settings.userHome,
  };
  const hosts = hostsFor(facts, settings.hosts);
  const write = [...opened.write, folders.temporary, ...placesOfProgram(facts), ...allowedPlaces(settings)];
  const files = { settings: path.join(own, `${number}.json`), script: path.join(own, `${number}.sh`) };
  writePrivately(
    files.settings,
    JSON.stringify(srtSettings({ write, keep: opened.keep, hosts, environment })),
  );
  writePrivately(files.script, scriptOf(program, { isLocal: hosts.some(isLoopback) }));
  return {
    ...program,
    argv: [process.execPath, srt, '--settings', files.settings, '--', '/bin/sh', files.script],
    folder: folders.empty,
    environment: withoutTemporary(
      confinedEnvironment(environment, {
        kind: 'runtime',
        temporary: folders.temporary,
        reports: opened.reports,
      }),
    ),
  };
}

/**
 * `srt` gives the program the folder that CLAUDE_CODE_TMPDIR names. Its own sockets go where TMPDIR says, and the name of a
 * socket is short and has nothing in it that socat would understand.
 */
function withoutTemporary(variables: Record<string, string>): Record<string, string> {
  const { TMPDIR: _, ...environment } = variables;
  return environment;
}

/** Through no link: a part of it can be written from within. */
export function makeOwn(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

function srtSettings({
  write,
  keep,
  hosts,
  environment,
}: {
  readonly write: readonly string[];
  readonly keep: readonly string[];
  readonly hosts: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}): object {
  // A name with a star or a bracket in it is a name, and no pattern.
  const literally = (paths: readonly string[]) => paths.map((one) => ({ path: one, literal: true }));
  const program = (name: string): string | undefined => findProgram(name, environment);
  const [bwrapPath, socatPath, rg] = [program('bwrap'), program('socat'), program('rg')];
  return {
    network: { allowedDomains: hosts, deniedDomains: [] },
    filesystem: { denyRead: [], allowRead: [], allowWrite: literally(write), denyWrite: literally(keep) },
    allowPty: true,
    ...(bwrapPath && { bwrapPath }),
    ...(socatPath && { socatPath }),
    ...(rg && { ripgrep: { command: rg } }),
  };
}

/** Folders are made, because what is not there cannot be opened; a file that is not there the program does without. */
function placesOfProgram(facts: ProgramFacts): readonly string[] {
  const { folders, files } = programWriteSet(facts);
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return [...folders, ...files.filter((file) => existsSync(file))].map((place) => realpathSync(place));
}

function allowedPlaces({ write, userHome, repository }: SandboxSettings): readonly string[] {
  return write.map((named) => {
    const place = path.resolve(
      repository.home,
      named.replace(/^~(?=\/|$)/, () => userHome),
    );
    if (statSync(place, { throwIfNoEntry: false }) === undefined)
      throw new NotConfined(
        `\`sandbox_write\` names ${place}, which is not there: make it, or take it out of copse.yml.`,
      );
    return realpathSync(place);
  });
}

function writePrivately(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
}

/** Why it cannot be used on this machine: a sentence, or null. */
export function runtimeProblem(
  srt: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  tryOut: (argv: readonly [string, ...string[]]) => string | null,
): string | null {
  if (srt === undefined) return `the package ${PACKAGE} is not installed: npm install --global ${PACKAGE}`;
  if (process.platform === 'win32') return 'it works on Linux and macOS only';
  const needed = process.platform === 'linux' ? ['bwrap', 'socat', 'rg'] : ['rg'];
  const missing = needed.filter((name) => findProgram(name, environment) === undefined);
  if (missing.length > 0) {
    const packages = missing.map((name) => SYSTEM_PACKAGES[name] ?? name).join(' ');
    const install = process.platform === 'linux' ? 'apt install' : 'brew install';
    return `${missing.join(', ')} cannot be found: ${install} ${packages}`;
  }
  if (process.platform !== 'linux') return null;
  const said = tryOut([
    'bwrap',
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
  return said === null ? null : `bubblewrap cannot make a sandbox on this machine: ${said}`;
}

export const PACKAGE = '@anthropic-ai/sandbox-runtime';

const SYSTEM_PACKAGES: Readonly<Record<string, string>> = { bwrap: 'bubblewrap', rg: 'ripgrep' };
