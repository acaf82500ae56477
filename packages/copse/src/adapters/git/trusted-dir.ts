/**
 * The git directory that Copse works with instead of the repository's own.
 *
 * Agents share the repository's `.git` with everybody: they can write its configuration, hooks, attributes and more, and
 * much of that makes git run programs. Flags stop some of it, not filters, merge drivers or the programs of a remote. So
 * Copse's git never looks there. It gets a directory that shares the objects, refs and reflogs of the repository by links
 * and has a configuration of its own, written anew whenever the person's changed:
 *
 *   plain  files as a person would get them: line endings, and the filters of the person's global configuration
 *   raw    files byte for byte, for snapshots
 *
 * What is taken over from the repository's configuration is a list of names with values that can do no harm. The
 * addresses of remotes are taken over once, when the directory is made: whoever changes them later may be an agent, so
 * they have to be accepted (remote.ts).
 */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';

import { BoardUnavailable } from '../../ports/board.ts';
import type { Repository } from './locate.ts';

export interface TrustedDir {
  readonly plain: string;
  readonly raw: string;
  /** The repository's own git directory: what is linked, and where worktrees are registered. */
  readonly commonDir: string;
  /** Where `.copse/` is. */
  readonly home: string;
  readonly objectFormat: 'sha1' | 'sha256';
}

type Settings = ReadonlyMap<string, readonly string[]>;

const SHARED = ['objects', 'refs', 'logs', 'packed-refs', 'shallow', 'lfs', 'modules'] as const;

export function openTrustedDir(repository: Pick<Repository, 'commonDir' | 'home'>): TrustedDir {
  const { commonDir, home } = repository;
  const folder = path.join(home, '.copse', 'git');
  const dir = (objectFormat: TrustedDir['objectFormat']): TrustedDir => ({
    plain: path.join(folder, 'plain'),
    raw: path.join(folder, 'raw'),
    commonDir,
    home,
    objectFormat,
  });
  const stampFile = path.join(folder, 'stamp');
  const stamp = stampOf(commonDir);
  const [format, madeFrom] = readIfThere(stampFile)?.split('\n') ?? [];
  if (madeFrom === stamp && (format === 'sha1' || format === 'sha256')) {
    const known = dir(format);
    if (isIntact(known)) return known;
  }
  const settings = settingsOf(commonDir);
  refuseWhatIsUnknown(settings, commonDir);
  const objectFormat = settings.get('extensions.objectformat')?.at(-1) === 'sha256' ? 'sha256' : 'sha1';
  const made = dir(objectFormat);
  const text = configText(settings, readConfig(path.join(made.plain, 'config')));
  for (const gitDir of [made.plain, made.raw]) lay(gitDir, commonDir, text);
  replace(path.join(made.raw, 'info', 'attributes'), RAW_ATTRIBUTES);
  replace(stampFile, `${objectFormat}\n${stamp}\n`);
  return made;
}

/** Above every `.gitattributes`: nothing converts anything, whatever it is set to. */
const RAW_ATTRIBUTES = '* -text -eol -ident -filter -working-tree-encoding -merge -diff\n';

function lay(gitDir: string, commonDir: string, config: string): void {
  mkdirSync(path.join(gitDir, 'info'), { recursive: true, mode: 0o700 });
  mkdirSync(path.join(commonDir, 'logs'), { recursive: true });
  for (const name of SHARED) link(path.join(commonDir, name), path.join(gitDir, name));
  link(path.join(commonDir, 'info', 'exclude'), path.join(gitDir, 'info', 'exclude'));
  replace(path.join(gitDir, 'HEAD'), 'ref: refs/heads/copse-has-no-branch\n');
  replace(path.join(gitDir, 'config'), config);
}

function isIntact({ plain, raw, commonDir }: TrustedDir): boolean {
  return [plain, raw].every(
    (gitDir) =>
      existsSync(path.join(gitDir, 'config')) &&
      !existsSync(path.join(gitDir, 'hooks')) &&
      SHARED.every((name) => leadsTo(path.join(gitDir, name), path.join(commonDir, name))),
  );
}

function link(target: string, at: string): void {
  if (leadsTo(at, target)) return;
  const fresh = `${at}.${process.pid}`;
  rmSync(fresh, { force: true });
  symlinkSync(target, fresh);
  renameSync(fresh, at);
}

function leadsTo(at: string, target: string): boolean {
  const found = lstatSync(at, { throwIfNoEntry: false });
  return found?.isSymbolicLink() === true && readlinkSync(at) === target;
}

/** Whole or not at all, however many do it at once. */
function replace(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, file);
}

/** Said by Copse, whatever anybody else says. */
const own: readonly (readonly [string, string])[] = [
  ['core.bare', 'false'],
  ['core.hookspath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.commitgraph', 'false'],
  ['core.logallrefupdates', 'true'],
  ['core.fsync', 'committed,reference'],
  ['core.fsyncmethod', 'batch'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['commit.gpgsign', 'false'],
  ['submodule.recurse', 'false'],
  ['protocol.ext.allow', 'never'],
  ['checkout.workers', String(Math.min(4, Math.max(2, availableParallelism())))],
];

/** How files are written on this system: words that can only be one of a few. */
const HARMLESS = /^core\.(autocrlf|eol|symlinks|filemode|ignorecase|precomposeunicode|longpaths|safecrlf)$/;
const HARMLESS_VALUE = /^(true|false|input|lf|crlf|native|warn|yes|no|on|off|0|1)$/i;

function configText(settings: Settings, before: Settings): string {
  const lines = own.map(([name, value]) => `${name}=${value}`);
  for (const [name, values] of settings) {
    const value = values.at(-1) ?? '';
    if (HARMLESS.test(name) && HARMLESS_VALUE.test(value)) lines.push(`${name}=${value}`);
  }
  const isNew = settings.get('extensions.objectformat')?.at(-1) === 'sha256';
  lines.push(`core.repositoryformatversion=${isNew ? 1 : 0}`);
  if (isNew) lines.push('extensions.objectformat=sha256');
  const ignore = personal('core.excludesfile').at(-1) ?? path.join(configHome(), 'git', 'ignore');
  lines.push(`core.excludesfile=${ignore.replace(/^~(?=\/)/, homedir())}`);
  for (const [name, values] of personalFilters()) lines.push(...values.map((value) => `${name}=${value}`));
  lines.push(...remoteLines(before.size > 0 ? before : settings));
  return asConfig(lines);
}

/** An address and nothing else: `uploadpack`, `receivepack`, `vcs`, `proxy` and the like name programs. */
function remoteLines(settings: Settings): readonly string[] {
  return [...settings].flatMap(([name, values]) => {
    const [, remote] = /^remote\.(.+)\.url$/.exec(name) ?? [];
    const url = values.at(-1);
    if (remote === undefined || url === undefined) return [];
    return [`remote.${remote}.url=${url}`, `remote.${remote}.fetch=+refs/heads/*:refs/remotes/${remote}/*`];
  });
}

/** `section.sub.key=value` lines as a file. Everything is quoted, so nothing in a value means anything to git. */
function asConfig(lines: readonly string[]): string {
  return lines
    .map((line) => {
      const [, section = '', sub, key = '', value = ''] =
        /^([^.=]+)\.(?:(.+)\.)?([^.=]+)=(.*)$/s.exec(line) ?? [];
      const head = sub === undefined ? `[${section}]` : `[${section} ${quoted(sub)}]`;
      return `${head}\n\t${key} = ${quoted(value)}\n`;
    })
    .join('');
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

function settingsOf(commonDir: string): Settings {
  return readConfig(path.join(commonDir, 'config'));
}

/** With `--file`, git follows no include and asks no other file. */
function readConfig(file: string): Settings {
  return existsSync(file) ? listed(['--file', file]) : new Map();
}

/** The filters a person set up for all repositories, Git LFS above all. */
function personalFilters(): Settings {
  const all = [...listed(['--system']), ...listed(['--global'])];
  return new Map(all.filter(([name]) => /^filter\..+\.(clean|smudge|process|required)$/.test(name)));
}

function personal(name: string): readonly string[] {
  return listed(['--global']).get(name) ?? listed(['--system']).get(name) ?? [];
}

function listed(from: readonly string[]): Settings {
  const settings = new Map<string, string[]>();
  let output = '';
  try {
    output = execFileSync('git', ['config', ...from, '--null', '--list'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GIT_DIR: '/nowhere' },
    });
  } catch (error) {
    // No such file is no setting; a file that git cannot read must not pass for an empty one.
    if (from[0] === '--file') throw unreadable(String(from[1]), error);
  }
  for (const entry of output.split('\0')) {
    const [name = '', ...rest] = entry.split('\n');
    if (name !== '') settings.set(name, [...(settings.get(name) ?? []), rest.join('\n')]);
  }
  return settings;
}

function unreadable(file: string, cause: unknown): BoardUnavailable {
  return new BoardUnavailable(`git cannot read ${file}.`, `Correct it: git config --file ${file} --list`, {
    cause,
  });
}

function refuseWhatIsUnknown(settings: Settings, commonDir: string): void {
  const storage = settings.get('extensions.refstorage')?.at(-1) ?? 'files';
  if (storage === 'files') return;
  throw new BoardUnavailable(
    `The repository at ${commonDir} keeps its refs as ${storage}, which Copse cannot use yet.`,
    'Convert it: git refs migrate --ref-format=files',
  );
}

/** What the directory was made from; when one of these changes, it is made again. */
function stampOf(commonDir: string): string {
  const personalFiles = [path.join(homedir(), '.gitconfig'), path.join(configHome(), 'git', 'config')];
  const times = [path.join(commonDir, 'config'), ...personalFiles].map((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found === undefined ? '-' : `${found.mtimeMs}/${found.size}`;
  });
  return [VERSION, ...times].join(' ');
}

/** Goes up when the configuration above changes. */
const VERSION = 1;

function configHome(): string {
  return process.env['XDG_CONFIG_HOME'] ?? path.join(homedir(), '.config');
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
