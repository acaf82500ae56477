/**
 * The configuration of Copse's own git directory: Copse's settings, the harmless settings of the repository, and the person's
 * settings for all repositories. Copse takes nothing else from the repository.
 */

import { execFileSync } from 'node:child_process';
import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { shellWord } from '../../kernel/shell.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import { RepositoryUnavailable } from '../unavailable.ts';

export type Settings = ReadonlyMap<string, readonly string[]>;

/** Measured on the disk, because a configuration that claims less would hide changes. */
export interface DiskTraits {
  readonly keepsExecutableBit: boolean;
  readonly ignoresCase: boolean;
}

interface ConfigLine {
  readonly name: string;
  readonly value: string;
}

interface ConfigRequest {
  readonly repository: Settings;
  /** The source of the remotes' addresses. */
  readonly remotes: Settings;
  readonly personal: PersonalSettings;
  readonly disk: DiskTraits;
  readonly isRaw: boolean;
}

/** The person's settings for all repositories. */
export interface PersonalSettings {
  readonly system: Settings;
  readonly global: Settings;
}

export function configText({ repository, remotes, personal, disk, isRaw }: ConfigRequest): string {
  const isNew = repository.get('extensions.objectformat')?.at(-1) === 'sha256';
  return asConfig([
    ...own,
    line('core.filemode', String(disk.keepsExecutableBit)),
    line('core.ignorecase', String(disk.ignoresCase)),
    ...(isRaw ? [] : conversionLines(repository)),
    line('core.repositoryformatversion', isNew ? '1' : '0'),
    ...(isNew ? [line('extensions.objectformat', 'sha256')] : []),
    ...personalLines(personal, { isRaw }),
    ...remoteLines(remotes),
  ]);
}

/** Copse's settings, which override all others. */
const own: readonly ConfigLine[] = [
  // Without this, git would take the current folder for the work tree when none is named.
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

/** Settings for line endings and the like, with a fixed list of values. */
const CONVERSION = /^core\.(autocrlf|eol|safecrlf|precomposeunicode|longpaths)$/;
const CONVERSION_VALUE = /^(true|false|input|lf|crlf|native|warn|yes|no|on|off|0|1)$/i;

function conversionLines(repository: Settings): readonly ConfigLine[] {
  return [...repository].flatMap(([name, values]) => {
    const value = values.at(-1) ?? '';
    return CONVERSION.test(name) && CONVERSION_VALUE.test(value) ? [line(name, value)] : [];
  });
}

/** Ignored files, how to reach remotes, filters (Git LFS above all). */
function personalLines(
  { system, global }: PersonalSettings,
  { isRaw }: { readonly isRaw: boolean },
): readonly ConfigLine[] {
  const one = (name: string) => (global.get(name) ?? system.get(name))?.at(-1);
  const ignore = one('core.excludesfile') ?? path.join(configHome(), 'git', 'ignore');
  const filters = [...new Map([...system, ...global])].filter(([name]) =>
    /^filter\..+\.(clean|smudge|process|required)$/.test(name),
  );
  return [
    line('core.excludesfile', ignore.replace(/^~(?=\/)/, homedir())),
    // ssh would wait for an answer on the terminal for ever.
    line('core.sshcommand', one('core.sshcommand') ?? 'ssh -o BatchMode=yes'),
    ...(isRaw ? [] : filters.flatMap(([name, values]) => values.map((value) => line(name, value)))),
  ];
}

/** Only addresses: `uploadpack`, `receivepack`, `vcs` and `proxy` name programs. */
function remoteLines(settings: Settings): readonly ConfigLine[] {
  return [...remoteAddresses(settings)].map(([remote, url]) => line(`remote.${remote}.url`, url));
}

export function remoteAddresses(settings: Settings): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const [name, values] of settings) {
    const remote = /^remote\.(.+)\.url$/s.exec(name)?.[1];
    // Git fetches from the first.
    const [url] = values;
    if (remote !== undefined && url !== undefined && url !== '') addresses.set(remote, url);
  }
  return addresses;
}

/** The default remote: `origin`, or the only one. */
export function usualRemote(...known: readonly Settings[]): string | undefined {
  const names = new Set(known.flatMap((settings) => Array.from(remoteAddresses(settings).keys())));
  if (names.has('origin')) return 'origin';
  return names.size === 1 ? [...names][0] : undefined;
}

/** Starts a git for each of the two. */
export function readPersonalSettings(): PersonalSettings {
  return { system: listed(['--system']), global: listed(['--global']) };
}

/** What the person calls the first branch of a new repository. */
export function personalDefaultBranch({ global }: PersonalSettings): string | undefined {
  return global.get('init.defaultbranch')?.at(-1);
}

function line(name: string, value: string): ConfigLine {
  return { name, value };
}

/** A section ends at a name's first dot and a key begins after its last. Quotes keep a value from ending the line. */
function asConfig(lines: readonly ConfigLine[]): string {
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

/**
 * With `--file`, git follows no include and reads no other file. Git gets the text and not the file, which an agent may
 * replace by a pipe. People may keep the file elsewhere and link to it.
 */
export function readSettings(file: string): Settings {
  let text: Buffer | undefined;
  try {
    text = readPlainBytes(file, { isFollowing: true });
  } catch (error) {
    throw unreadable(file, error);
  }
  return text === undefined ? new Map() : listed(['--file', '-'], { file, text });
}

function listed(from: readonly string[], of?: { readonly file: string; readonly text: Buffer }): Settings {
  const settings = new Map<string, string[]>();
  let output = '';
  try {
    output = execFileSync('git', ['config', ...from, '--null', '--list'], {
      encoding: 'utf8',
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
      input: of?.text ?? '',
      timeout: defaultPolicy.git.mostMs,
      maxBuffer: defaultPolicy.files.packedRefsBytes,
      env: { ...personalEnvironment(), GIT_DIR: '/nowhere' },
    });
  } catch (error) {
    // A missing file holds no settings; an unreadable file must not count as empty.
    if (of !== undefined) throw unreadable(of.file, error);
  }
  for (const entry of output.split('\0')) {
    const end = entry.indexOf('\n');
    // A name without a value means true.
    const [name, value] = end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
    if (name !== '') settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

/** Git's variables for the place of a person's configuration; the others concern a repository or a command. */
const PERSONAL = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']);

function personalEnvironment(): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || PERSONAL.has(name)),
    ),
    PATH: absolutePath(process.env['PATH']),
  };
}

/** With a relative entry, a folder that an agent works in could hold another `git`. */
export function absolutePath(searchPath = ''): string {
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .join(path.delimiter);
}

/** The files of a person's own configuration. */
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
    `git config --file ${shellWord(file)} --list # to see what is wrong in it`,
    {
      cause,
    },
  );
}
