/**
 * The configuration of Copse's own git directory: what Copse says itself, what can do no harm from the repository's
 * configuration, and what the person set up for all repositories. Nothing else from the repository is taken over.
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';

import { RepositoryUnavailable } from '../unavailable.ts';

export type Settings = ReadonlyMap<string, readonly string[]>;

/** What the disk can keep: asked of the disk, because a configuration that says less would hide changes. */
export interface DiskTraits {
  readonly keepsExecutableBit: boolean;
  readonly ignoresCase: boolean;
}

interface Line {
  readonly name: string;
  readonly value: string;
}

interface ConfigRequest {
  readonly repository: Settings;
  /** Where the addresses of remotes come from. */
  readonly remotes: Settings;
  readonly disk: DiskTraits;
  readonly isRaw: boolean;
}

export function configText({ repository, remotes, disk, isRaw }: ConfigRequest): string {
  const isNew = repository.get('extensions.objectformat')?.at(-1) === 'sha256';
  return asConfig([
    ...own,
    line('core.filemode', String(disk.keepsExecutableBit)),
    line('core.ignorecase', String(disk.ignoresCase)),
    ...(isRaw ? [] : conversionLines(repository)),
    line('core.repositoryformatversion', isNew ? '1' : '0'),
    ...(isNew ? [line('extensions.objectformat', 'sha256')] : []),
    ...personalLines({ isRaw }),
    ...remoteLines(remotes),
  ]);
}

/** Said by Copse, whatever anybody else says. */
const own: readonly Line[] = [
  // No files but those of a work tree that is named: without one, git would take the current folder for it.
  line('core.bare', 'true'),
  line('core.symlinks', 'true'),
  line('core.hookspath', '/dev/null'),
  line('core.fsmonitor', 'false'),
  line('core.commitgraph', 'false'),
  line('core.logallrefupdates', 'true'),
  line('core.fsync', 'committed,reference'),
  line('core.fsyncmethod', 'batch'),
  line('gc.auto', '0'),
  line('maintenance.auto', 'false'),
  line('commit.gpgsign', 'false'),
  line('submodule.recurse', 'false'),
  line('fetch.recursesubmodules', 'false'),
  line('protocol.ext.allow', 'never'),
  line('checkout.workers', String(Math.min(4, Math.max(2, availableParallelism())))),
];

/** How text is written on this system: words that can only be one of a few. */
const CONVERSION = /^core\.(autocrlf|eol|safecrlf|precomposeunicode|longpaths)$/;
const CONVERSION_VALUE = /^(true|false|input|lf|crlf|native|warn|yes|no|on|off|0|1)$/i;

function conversionLines(repository: Settings): readonly Line[] {
  return [...repository].flatMap(([name, values]) => {
    const value = values.at(-1) ?? '';
    return CONVERSION.test(name) && CONVERSION_VALUE.test(value) ? [line(name, value)] : [];
  });
}

/** What the person set up for all repositories: ignored files, how to reach remotes, filters (Git LFS above all). */
function personalLines({ isRaw }: { readonly isRaw: boolean }): readonly Line[] {
  const system = listed(['--system']);
  const global = listed(['--global']);
  const one = (name: string) => (global.get(name) ?? system.get(name))?.at(-1);
  const ignore = one('core.excludesfile') ?? path.join(configHome(), 'git', 'ignore');
  const filters = [...new Map([...system, ...global])].filter(([name]) =>
    /^filter\..+\.(clean|smudge|process|required)$/.test(name),
  );
  return [
    line('core.excludesfile', ignore.replace(/^~(?=\/)/, homedir())),
    // A question on the terminal would wait for ever.
    line('core.sshcommand', one('core.sshcommand') ?? 'ssh -o BatchMode=yes'),
    ...(isRaw ? [] : filters.flatMap(([name, values]) => values.map((value) => line(name, value)))),
  ];
}

/** An address and nothing else: `uploadpack`, `receivepack`, `vcs`, `proxy` and the like name programs. */
function remoteLines(settings: Settings): readonly Line[] {
  return [...remoteAddresses(settings)].map(([remote, url]) => line(`remote.${remote}.url`, url));
}

export function remoteAddresses(settings: Settings): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const [name, values] of settings) {
    const remote = /^remote\.(.+)\.url$/s.exec(name)?.[1];
    // The first is where git fetches from.
    const [url] = values;
    if (remote !== undefined && url !== undefined && url !== '') addresses.set(remote, url);
  }
  return addresses;
}

/** `origin`, or the only one: what is meant when no remote is named. */
export function usualRemote(...known: readonly Settings[]): string | undefined {
  const names = new Set(known.flatMap((settings) => Array.from(remoteAddresses(settings).keys())));
  if (names.has('origin')) return 'origin';
  return names.size === 1 ? [...names][0] : undefined;
}

/** What the person calls the first branch of a new repository. */
export function personalDefaultBranch(): string | undefined {
  return listed(['--global']).get('init.defaultbranch')?.at(-1);
}

function line(name: string, value: string): Line {
  return { name, value };
}

/** A section ends at a name's first dot and a key begins after its last. Everything is quoted, so no value can end. */
function asConfig(lines: readonly Line[]): string {
  return lines
    .map(({ name, value }) => {
      const [first, last] = [name.indexOf('.'), name.lastIndexOf('.')];
      const section = name.slice(0, first);
      const head = first === last ? `[${section}]` : `[${section} ${quoted(name.slice(first + 1, last))}]`;
      return `${head}\n\t${name.slice(last + 1)} = ${quoted(value)}\n`;
    })
    .join('');
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** With `--file`, git follows no include and asks no other file. */
export function readSettings(file: string): Settings {
  return existsSync(file) ? listed(['--file', file]) : new Map();
}

function listed(from: readonly string[]): Settings {
  const settings = new Map<string, string[]>();
  let output = '';
  try {
    output = execFileSync('git', ['config', ...from, '--null', '--list'], {
      encoding: 'utf8',
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...personalEnvironment(), GIT_DIR: '/nowhere' },
    });
  } catch (error) {
    // No such file is no setting; a file that git cannot read must not pass for an empty one.
    if (from[0] === '--file') throw unreadable(String(from[1]), error);
  }
  for (const entry of output.split('\0')) {
    const end = entry.indexOf('\n');
    // A name alone is git's short way to say true.
    const [name, value] = end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
    if (name !== '') settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

/** Which of git's variables say where a person's own configuration is; the others mean a repository or a command. */
const PERSONAL = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']);

function personalEnvironment(): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || PERSONAL.has(name)),
    ),
    PATH: absolutePath(process.env['PATH']),
  };
}

/** A relative entry would let a folder that an agent works in say what `git` is. */
export function absolutePath(searchPath = ''): string {
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .join(path.delimiter);
}

/** The files a person's own configuration is in. */
export function personalFiles(): readonly string[] {
  const named = process.env['GIT_CONFIG_GLOBAL'];
  return named === undefined
    ? [path.join(homedir(), '.gitconfig'), path.join(configHome(), 'git', 'config')]
    : [named];
}

function configHome(): string {
  return process.env['XDG_CONFIG_HOME'] ?? path.join(homedir(), '.config');
}

function unreadable(file: string, cause: unknown): RepositoryUnavailable {
  return new RepositoryUnavailable(
    `git cannot read ${file}.`,
    `Correct it: git config --file ${file} --list`,
    {
      cause,
    },
  );
}
