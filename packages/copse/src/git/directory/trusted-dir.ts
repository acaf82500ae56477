/**
 * The git directory that Copse uses instead of the repository's own.
 *
 * Agents can write the repository's `.git`: its configuration, hooks and attributes, and much of that makes git run programs.
 * Flags stop some of it, but not filters, merge drivers or the programs of a remote. So Copse's git never reads those. It gets
 * a directory that shares the repository's objects, refs and reflogs by links and has a configuration of its own, written anew
 * whenever the person's or the repository's changes:
 *
 *   plain  files as a person gets them: line endings, and the filters of the person's global configuration
 *   raw    files byte for byte, for snapshots
 *
 * From the repository's configuration, Copse copies a fixed list of names with harmless values. It copies the addresses of
 * remotes once, when it makes the directory: an agent may change them later, so a person must accept a change (remote.ts). It
 * copies the end of a shallow history only where the earlier commits are really missing, because agents can write that file.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { shellWord } from '../../kernel/shell.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { RepositoryUnavailable } from '../unavailable.ts';
import type { Remembered, TrustedDir } from '../process.ts';
import {
  type OwnFiles,
  type Stamp,
  areIntact,
  expectFiles,
  lay,
  layAll,
  readStamp,
  stampFile,
  unused,
} from './intact.ts';
import type { Repository } from './locate.ts';
import {
  type DiskTraits,
  type Settings,
  absolutePath,
  configText,
  personalDefaultBranch,
  personalFiles,
  readPersonalSettings,
  readSettings,
  remoteAddresses,
  usualRemote,
} from './trusted-config.ts';

export function openTrustedDir(repository: Pick<Repository, 'commonDir' | 'home'>): TrustedDir {
  refuseLinks(repository.home);
  const stamp = readStamp(stampFile(folderOf(repository)));
  if (stamp?.madeFrom === stampOf(repository.commonDir) && isRemembered(stamp.remembered)) {
    const known = describe(repository, stamp.objectFormat, stamp.remembered);
    if (areIntact(known, stamp)) {
      expectFiles(known, stamp);
      return known;
    }
  }
  return makeTrustedDir(repository, { isAccepting: false });
}

/** With `isAccepting`, Copse uses the present addresses of the repository's remotes. */
export function makeTrustedDir(
  repository: Pick<Repository, 'commonDir' | 'home'>,
  { isAccepting }: { readonly isAccepting: boolean },
): TrustedDir {
  const { commonDir } = repository;
  const folder = folderOf(repository);
  // First: the next opening then notices a change made during the reads below.
  const madeFrom = stampOf(commonDir);
  const config = stampOfFile(path.join(commonDir, 'config'));
  const settings = readSettings(path.join(commonDir, 'config'));
  refuseWhatIsUnknown(settings, commonDir);
  const objectFormat = settings.get('extensions.objectformat')?.at(-1) === 'sha256' ? 'sha256' : 'sha1';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const remotes = (isAccepting ? undefined : acceptedRemotes(folder)) ?? settings;
  const personal = readPersonalSettings();
  const remembered: Remembered = {
    config,
    remote: usualRemote(remotes, settings) ?? null,
    defaultBranch: personalDefaultBranch(personal) ?? null,
  };
  const disk = traitsOf(folder);
  const filesOf = (isRaw: boolean): OwnFiles => ({
    HEAD: 'ref: refs/heads/copse-has-no-branch\n',
    config: configText({ repository: settings, remotes, personal, disk, isRaw }),
    'info/attributes': isRaw ? RAW_ATTRIBUTES : '',
  });
  const [plain, raw] = [filesOf(false), filesOf(true)];
  const shallow = shallowText(folder, commonDir, raw);
  const stamp: Stamp = {
    objectFormat,
    madeFrom,
    remembered,
    remotes: [...remoteAddresses(remotes)],
    plain: { ...plain, ...shallow },
    raw: { ...raw, ...shallow },
  };
  const made = describe(repository, objectFormat, remembered);
  // Before the files: other processes of Copse accept files that differ from what they know if the stamp has them.
  writeAtomically(stampFile(folder), `${JSON.stringify(stamp)}\n`);
  layAll(made, stamp);
  expectFiles(made, stamp);
  return made;
}

/** The addresses that were accepted before; undefined when the directory is new. */
function acceptedRemotes(folder: string): Settings | undefined {
  const stamp = readStamp(stampFile(folder));
  if (stamp !== undefined)
    return new Map(stamp.remotes.map(([name, url]) => [`remote.${name}.url`, [url]] as const));
  const config = path.join(folder, 'plain', 'config');
  if (readIfPlain(config) === undefined) return undefined;
  const before = readSettings(config);
  return before.size > 0 ? before : undefined;
}

/** Overrides every `.gitattributes`: git converts nothing. */
const RAW_ATTRIBUTES = '* -text -eol -ident -filter -working-tree-encoding -merge -diff\n';

function describe(
  repository: Pick<Repository, 'commonDir' | 'home'>,
  objectFormat: TrustedDir['objectFormat'],
  remembered: Remembered,
): TrustedDir {
  const { commonDir, home } = repository;
  const folder = folderOf(repository);
  const [plain, raw] = [path.join(folder, 'plain'), path.join(folder, 'raw')];
  return { plain, raw, commonDir, home, objectFormat, remembered };
}

function isRemembered(value: unknown): value is Remembered {
  return typeof value === 'object' && value !== null && 'config' in value;
}

function folderOf({ home }: Pick<Repository, 'home'>): string {
  return path.join(home, '.copse', 'git');
}

/** A link could move the directory to a place that others can write. */
function refuseLinks(home: string): void {
  for (const inside of ['.copse', '.copse/git', '.copse/git/plain', '.copse/git/raw']) {
    const folder = path.join(home, inside);
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new RepositoryUnavailable(
      `${folder} is a link. Copse uses its git directory only in a real folder.`,
      `rm ${shellWord(folder)} # to remove the link; or replace it with the folder`,
    );
  }
}

/**
 * Copies the lines of the repository's `shallow` file whose commits really lack a parent. A copy suffices: git does not write
 * to it when it fetches without a depth.
 */
function shallowText(folder: string, commonDir: string, files: OwnFiles): OwnFiles {
  const named = readIfPlain(path.join(commonDir, 'shallow'))?.split('\n') ?? [];
  const commits = named.filter((id) => /^[0-9a-f]{40,64}$/.test(id));
  if (commits.length === 0) return {};
  const probe = unused(path.join(folder, 'probe'));
  try {
    lay(probe, commonDir, files);
    const kept = commits.filter(lacksParent(probe, commits));
    return kept.length === 0 ? {} : { shallow: kept.map((id) => `${id}\n`).join('') };
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}

function lacksParent(gitDir: string, commits: readonly string[]): (commit: string) => boolean {
  const ask = (argv: readonly string[], ids: Iterable<string>) =>
    execFileSync('git', ['cat-file', ...argv], {
      input: [...ids, ''].join('\n'),
      encoding: 'latin1',
      maxBuffer: 1024 ** 3,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: defaultPolicy.git.mostMs,
      cwd: gitDir,
      env: {
        PATH: absolutePath(process.env['PATH']),
        GIT_DIR: gitDir,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_NO_LAZY_FETCH: '1',
      },
    });
  const parents = new Map<string, readonly string[]>();
  const text = ask(['--batch'], commits);
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const [id = '', type, size] = text.slice(at, end).split(' ');
    at = end + 1;
    if (size === undefined) continue;
    const [header = ''] = text.slice(at, at + Number(size)).split('\n\n', 1);
    if (type === 'commit')
      parents.set(
        id,
        Array.from(header.matchAll(/^parent (\w+)$/gm), ([, of]) => of ?? ''),
      );
    at += Number(size) + 1;
  }
  const missing = new Set(
    ask(['--batch-check'], [...parents.values()].flat())
      .split('\n')
      .flatMap((answer) => (answer.endsWith(' missing') ? [answer.slice(0, -' missing'.length)] : [])),
  );
  return (commit) => parents.get(commit)?.some((parent) => missing.has(parent)) === true;
}

function traitsOf(folder: string): DiskTraits {
  const probe = unused(path.join(folder, 'probe'));
  try {
    writeFileSync(probe, '', { mode: 0o600, flag: 'wx' });
    chmodSync(probe, 0o700);
    const keepsWhenSet = (statSync(probe).mode & 0o100) !== 0;
    chmodSync(probe, 0o600);
    const keepsWhenNot = (statSync(probe).mode & 0o100) === 0;
    return {
      keepsExecutableBit: keepsWhenSet && keepsWhenNot,
      ignoresCase: existsSync(path.join(folder, path.basename(probe).toUpperCase())),
    };
  } finally {
    rmSync(probe, { force: true });
  }
}

function refuseWhatIsUnknown(settings: Settings, commonDir: string): void {
  const storage = settings.get('extensions.refstorage')?.at(-1) ?? 'files';
  if (storage === 'files') return;
  throw new RepositoryUnavailable(
    `The repository at ${commonDir} stores its refs as ${storage}, which Copse does not support.`,
    'git refs migrate --ref-format=files # to convert it',
  );
}

/** Identifies the files that the directory was made from; a change makes it anew. */
function stampOf(commonDir: string): string {
  const files = [path.join(commonDir, 'config'), path.join(commonDir, 'shallow'), ...personalFiles()];
  return [VERSION, ...files.map(stampOfFile)].join(' ');
}

/** Changes whenever the file does. */
export function stampOfFile(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '-' : `${found.mtimeMs}/${found.size}/${found.ino}`;
}

/** Increase it when the code above makes the directory differently. */
const VERSION = 4;
