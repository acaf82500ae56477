/**
 * `sandbox: docker`: programs run in a container of the agent's `docker.image`. Mounts have the same paths inside as outside:
 * the main checkout and the repository read-only, and writable exactly the write set of `sandbox: runtime`. Only the objects
 * are elsewhere, as there. Nothing else of this machine is visible, and the agent's program comes with the image.
 *
 * A container has Docker's network: hosts are not restricted.
 */

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { programWriteSet } from '../rules/session/sandbox.ts';
import type { Confinable, Sandbox } from '../../processes/ports/programs.ts';
import { keepCompiled } from './compiled.ts';
import { confinedEnvironment } from './environment.ts';
import { maskedConfigs } from './masked-config.ts';
import type { StoreMount } from '../../git/objects.ts';
import { openPlaces, removePlaceholders } from './places.ts';
import { type SandboxSettings, allowedPlaces, makeOwn, seenBy } from './runtime.ts';
import { isWithin } from '../../kernel/system/within.ts';

export interface DockerSandboxSettings extends SandboxSettings {
  readonly image: string;
  /** Variables that exist only inside. */
  readonly variables: Readonly<Record<string, string>>;
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
      const opened = openPlaces(program, repository, settings.isWithoutObjects ? 'none' : 'own');
      opened.placeholders.forEach((file) => placeholders.add(file));
      const inside = { ...program.environment, ...settings.variables };
      const home = inside['HOME'] ?? userHome;
      const facts = { runtime, command, environment: inside, home };
      const { folders } = programWriteSet(facts);
      const { hide, show } = seenBy(settings, facts, []);
      for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
      const environment = {
        ...confinedEnvironment(inside, { kind: 'docker', temporary }),
        TMPDIR: temporary,
      };
      const mounted = [realpathSync(root), realpathSync(repository.commonDir)];
      const writable = [
        ...opened.write,
        temporary,
        ...folders,
        ...allowedPlaces(settings, 'sandbox_write', write),
      ];
      const argv = dockerArguments(program, {
        docker: settings.find('docker') ?? 'docker',
        name: `copse-${program.attempt}-${programs}`,
        image,
        user: process.getuid === undefined ? null : `${process.getuid()}:${process.getgid?.() ?? 0}`,
        read: [...mounted, ...show],
        hide: hide.filter((place) => mounted.some((above) => isWithin(above, place))),
        write: writable,
        // A missing path cannot be mounted.
        keep: [...opened.keep, ...keepCompiled(settings.compiled, writable)].filter((place) =>
          existsSync(place),
        ),
        elsewhere: [...opened.mounts, ...maskedConfigs([path.join(repository.commonDir, 'config')], own)],
        variables: Object.keys(environment),
        hasTerminal: options?.hasTerminal ?? false,
      });
      return { ...program, argv, environment };
    },
    close: () => removePlaceholders(placeholders),
  };
}

export interface DockerRequest {
  /** The program. */
  readonly docker: string;
  readonly name: string;
  readonly image: string;
  readonly user: string | null;
  readonly read: readonly string[];
  /** Folders inside of these that are empty in the container. */
  readonly hide: readonly string[];
  readonly write: readonly string[];
  readonly keep: readonly string[];
  /** Folders at another path. */
  readonly elsewhere: readonly StoreMount[];
  /** Names only: Docker takes the values from its own environment, so they appear in no process list. */
  readonly variables: readonly string[];
  readonly hasTerminal: boolean;
}

export function dockerArguments(
  { argv, folder, attempt }: Pick<Confinable, 'argv' | 'folder' | 'attempt'>,
  { docker, name, image, user, read, hide, write, keep, elsewhere, variables, hasTerminal }: DockerRequest,
): [string, ...string[]] {
  // Docker mounts by depth, so a read-only path inside a writable one stays read-only.
  const mounts = [
    ...read.map((place) => mount(place, 'readonly')),
    ...hide.map((place) => ['type=tmpfs', `target=${place}`].map(csvField).join(',')),
    ...write.map((place) => mount(place)),
    ...keep.map((place) => mount(place, 'readonly')),
    ...elsewhere.map(({ source, target, isWritable }) =>
      isWritable ? bind(source, target) : bind(source, target, 'readonly'),
    ),
  ];
  return [
    docker,
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
    // Changes to the image would be lost with the container.
    '--read-only',
    '--tmpfs=/tmp',
    `--workdir=${folder}`,
    ...mounts.map((one) => `--mount=${one}`),
    // Except variables that have a meaning only outside.
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

function mount(place: string, mode?: 'readonly'): string {
  return bind(place, place, mode);
}

/** CSV fields, quoted where they contain a comma or a quote. */
function bind(source: string, target: string, mode?: 'readonly'): string {
  return ['type=bind', `source=${source}`, `target=${target}`, ...(mode ? [mode] : [])]
    .map(csvField)
    .join(',');
}

function csvField(field: string): string {
  return /[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** Why Docker cannot be used on this machine, or null. */
export async function dockerProblem(
  find: SandboxSettings['find'],
  tryOut: (argv: readonly [string, ...string[]]) => Promise<string | null>,
): Promise<string | null> {
  const docker = find('docker');
  if (docker === undefined) return 'Docker does not answer: docker was not found outside of the repository';
  const said = await tryOut([docker, 'version', '--format', '{{.Server.Version}}']);
  return said === null ? null : `Docker does not answer: ${said}`;
}
