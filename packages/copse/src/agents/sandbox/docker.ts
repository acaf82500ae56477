/**
 * `sandbox: docker`: programs run in a container of the image that the agent's `docker.image` names. What is mounted has the
 * same paths inside as outside: the main checkout and the repository to read, and to write exactly what the other sandbox
 * lets be written. Nothing else of this machine is there, and the agent's program comes with the image.
 *
 * A container has the network that Docker gives it: hosts are not restricted.
 */

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { programWriteSet } from '../rules/session/sandbox.ts';
import type { Confinable, Sandbox } from '../../processes/ports/programs.ts';
import { confinedEnvironment } from './environment.ts';
import { openPlaces, takeAway } from './places.ts';
import { type SandboxSettings, makeOwn } from './runtime.ts';

export interface DockerSandboxSettings extends SandboxSettings {
  readonly image: string;
  /** Variables for inside only. */
  readonly variables: Readonly<Record<string, string>>;
  /** The main checkout. */
  readonly root: string;
}

export function dockerSandbox(settings: DockerSandboxSettings): Sandbox {
  const placeholders = new Set<string>();
  let programs = 0;
  return {
    wrap(program, options) {
      programs += 1;
      const { repository, root, runtime, command, userHome, write, image } = settings;
      const own = makeOwn(settings.folder);
      const temporary = path.join(own, 'tmp');
      mkdirSync(temporary, { recursive: true, mode: 0o700 });
      const opened = openPlaces(program, repository);
      opened.placeholders.forEach((file) => placeholders.add(file));
      const inside = { ...program.environment, ...settings.variables };
      const home = inside['HOME'] ?? userHome;
      const { folders } = programWriteSet({ runtime, command, environment: inside, home });
      for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
      const environment = {
        ...confinedEnvironment(inside, { kind: 'docker', temporary, reports: opened.reports }),
        TMPDIR: temporary,
      };
      const argv = dockerArguments(program, {
        name: `copse-${program.attempt}-${programs}`,
        image,
        user: process.getuid === undefined ? null : `${process.getuid()}:${process.getgid?.() ?? 0}`,
        read: [realpathSync(root), realpathSync(repository.commonDir)],
        write: [
          ...opened.write,
          temporary,
          ...folders,
          ...write.map((one) => path.resolve(repository.home, one)),
        ],
        // What is not there cannot be mounted.
        keep: opened.keep.filter((place) => existsSync(place)),
        variables: Object.keys(environment),
        hasTerminal: options?.hasTerminal ?? false,
      });
      return { ...program, argv, environment };
    },
    close: () => takeAway(placeholders),
  };
}

export interface DockerRequest {
  readonly name: string;
  readonly image: string;
  readonly user: string | null;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly keep: readonly string[];
  /** Only their names: the values are those that the docker program itself has, and appear in no list of processes. */
  readonly variables: readonly string[];
  readonly hasTerminal: boolean;
}

export function dockerArguments(
  { argv, folder, attempt }: Pick<Confinable, 'argv' | 'folder' | 'attempt'>,
  { name, image, user, read, write, keep, variables, hasTerminal }: DockerRequest,
): [string, ...string[]] {
  // Docker mounts in the order of depth, whatever is said first, so what is kept inside of what may be written is kept.
  const mounts = [
    ...read.map((place) => mount(place, 'readonly')),
    ...write.map((place) => mount(place)),
    ...keep.map((place) => mount(place, 'readonly')),
  ];
  return [
    'docker',
    'run',
    '--rm',
    '--init',
    '--interactive',
    ...(hasTerminal ? ['--tty'] : []),
    `--name=${name}`,
    `--label=copse.attempt=${attempt}`,
    ...(user === null ? [] : [`--user=${user}`]),
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    // What the image has is not what the agent made; it goes with the container anyway.
    '--read-only',
    '--tmpfs=/tmp',
    `--workdir=${folder}`,
    ...mounts.map((one) => `--mount=${one}`),
    // What only has a meaning outside.
    ...variables.filter((one) => !OUTSIDE.has(one)).map((one) => `--env=${one}`),
    image,
    ...argv,
  ];
}

const OUTSIDE: ReadonlySet<string> = new Set([
  'PATH',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'SSH_AUTH_SOCK',
]);

/** One field of a line of CSV each: with quotes where a comma or a quote is in it. */
function mount(place: string, mode?: 'readonly'): string {
  return ['type=bind', `source=${place}`, `target=${place}`, ...(mode ? [mode] : [])].map(csvField).join(',');
}

function csvField(field: string): string {
  return /[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** Why it cannot be used on this machine: a sentence, or null. */
export function dockerProblem(
  image: string | undefined,
  tryOut: (argv: readonly [string, ...string[]]) => string | null,
): string | null {
  if (image === undefined) return 'it has no image: set `docker.image` to one that has the agent’s program';
  const said = tryOut(['docker', 'version', '--format', '{{.Server.Version}}']);
  return said === null ? null : `Docker does not answer: ${said}`;
}
