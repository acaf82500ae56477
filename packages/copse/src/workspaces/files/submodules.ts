/**
 * Submodules of a worktree, laid out as git itself does it: the git directory of each is `modules/<name>` inside the git
 * directory of the worktree, so whatever an agent commits there is apart from the main checkout.
 *
 * `git submodule` is not used: it goes by configuration that agents can write, down to commands (`update = !…`). Names,
 * paths and addresses come from `.gitmodules` of the commit and are held to git's own rules. Objects that the main
 * checkout has are linked, so that nothing is downloaded twice; the rest is fetched from the recorded address, if a person
 * accepted it. An accepted submodule answers for the addresses of those inside it.
 *
 * The `.git` file in the submodule's folder is written last. A git directory without it that has the mark `UNFINISHED` was
 * never used, and is made again; one without the mark may hold an agent's commits, and is left alone.
 */

import { existsSync } from 'node:fs';
import { copyFile, link, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type CommitId, brand } from '../../kernel/ids.ts';
import type { Checkout, SubmoduleOutcome } from '../ports/furnishing.ts';
import { loadAccepted } from '../../git/accepted/record.ts';
import { GitFailed, git, gitLine, tryGit, type TrustedDir } from '../../git/process.ts';
import { readIfThere } from '../../kernel/system/plain-file.ts';

const UNFINISHED = 'copse-unfinished';
const MAX_DEPTH = defaultPolicy.fetched.submoduleDepth;
const FETCH_TIMEOUT_MS = defaultPolicy.fetched.submoduleMs;

/** A repository that has submodules: the worktree, or a submodule of it. */
interface Parent {
  readonly folder: string;
  /** Where its submodules get their git directories. */
  readonly modules: string;
  /** Where the main checkout has those of the same submodules. */
  readonly mainModules: string;
  /** What relative addresses are relative to. */
  readonly url: string | undefined;
  readonly commit: CommitId;
  /** Empty for the repository itself, else the submodule's git directory. */
  readonly env: Readonly<Record<string, string>>;
  /** Before the paths in outcomes. */
  readonly prefix: string;
  readonly depth: number;
  /** A run that was killed had begun with it, so files of that run may be in its folders. */
  readonly isRemade: boolean;
}

interface Submodule {
  readonly name: string;
  readonly path: string;
  readonly url: string;
  readonly commit: CommitId;
}

export async function initialiseSubmodules(
  dir: TrustedDir,
  target: Checkout,
  commit: CommitId,
): Promise<readonly SubmoduleOutcome[]> {
  if (!existsSync(path.join(target.folder, '.gitmodules'))) return [];
  const remotes = await tryGit(dir, ['config', '--get', 'remote.origin.url']);
  return initialiseIn(dir, {
    folder: target.folder,
    modules: path.join(target.gitDir, 'modules'),
    mainModules: path.join(dir.commonDir, 'modules'),
    url: remotes.code === 0 ? remotes.stdout.toString().trimEnd() : undefined,
    commit,
    env: {},
    prefix: '',
    depth: 0,
    isRemade: false,
  });
}

async function initialiseIn(dir: TrustedDir, parent: Parent): Promise<readonly SubmoduleOutcome[]> {
  const outcomes: SubmoduleOutcome[] = [];
  for (const found of await submodulesOf(dir, parent)) {
    const at = parent.prefix + found.path;
    try {
      const done = 'why' in found ? failed(found.why) : await initialise(dir, parent, found);
      outcomes.push({ path: at, ...done.outcome }, ...done.nested);
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error;
      outcomes.push({ path: at, kind: 'not_ready', why: error.message });
    }
  }
  return outcomes;
}

function inside(parent: Parent, { name, path: at, url, commit }: Submodule, isRemade: boolean): Parent {
  const gitDir = path.join(parent.modules, name);
  return {
    folder: path.join(parent.folder, at),
    modules: path.join(gitDir, 'modules'),
    mainModules: path.join(parent.mainModules, name, 'modules'),
    url: absoluteUrl(url, parent.url),
    commit,
    env: { GIT_DIR: gitDir },
    prefix: `${parent.prefix}${at}/`,
    depth: parent.depth + 1,
    isRemade,
  };
}

/** Submodules of the tree, with their description in `.gitmodules`. */
async function submodulesOf(
  dir: TrustedDir,
  { commit, env, depth, folder }: Parent,
): Promise<readonly (Submodule | { readonly path: string; readonly why: string })[]> {
  if (depth >= MAX_DEPTH || !existsSync(path.join(folder, '.gitmodules'))) return [];
  const tree = await git(dir, ['ls-tree', '-r', '-z', '--full-tree', commit], { env });
  const links = tree
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, id = '', at = ''] = /^160000 commit ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
      return id === '' ? [] : [{ commit: brand<CommitId>(id), path: at }];
    });
  if (links.length === 0) return [];
  const described = await describedIn(dir, ['--blob', `${commit}:.gitmodules`], { env });
  const accepted = depth === 0 ? await acceptedAddresses(dir) : undefined;
  return links.map(({ commit: wanted, path: at }) => {
    const found = described.find((one) => one.path === at);
    if (found === undefined) return { path: at, why: '.gitmodules does not say where it comes from.' };
    const why = refusal(found);
    if (why !== undefined) return { path: at, why };
    if (accepted?.has(found.url) === false) return { path: at, why: NOT_ACCEPTED };
    return { name: found.name, url: found.url, path: at, commit: wanted };
  });
}

interface Described {
  readonly name: string;
  readonly path: string;
  readonly url: string;
}

const NOT_ACCEPTED =
  'Its address in .gitmodules is new. To accept it, once it is in the main checkout: copse config accept';

/** Undefined when nothing was accepted so far, so that everything counts. */
async function acceptedAddresses(dir: TrustedDir): Promise<ReadonlySet<string> | undefined> {
  const accepted = loadAccepted(dir);
  if (accepted === undefined) return undefined;
  const input = accepted.files['.gitmodules'] ?? '';
  return new Set((await describedIn(dir, ['--file', '-'], { input })).map(({ url }) => url));
}

async function describedIn(
  dir: TrustedDir,
  source: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string },
): Promise<readonly Described[]> {
  const { code, stdout } = await tryGit(dir, ['config', ...source, '--null', '--list'], options);
  if (code !== 0) return [];
  const values = new Map<string, Map<string, string>>();
  for (const entry of stdout.toString().split('\0')) {
    const [, name, key = '', value = ''] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(entry) ?? [];
    if (name !== undefined) values.set(name, (values.get(name) ?? new Map<string, string>()).set(key, value));
  }
  return [...values].map(([name, keys]) => ({
    name,
    path: (keys.get('path') ?? '').replace(/\/+$/, ''),
    url: keys.get('url') ?? '',
  }));
}

/** Git's own rules for what names a folder and an address. */
function refusal({ name, path: at, url }: Described): string | undefined {
  const parts = [...name.split(/[/\\]/), ...at.split(/[/\\]/)];
  if (
    name === '' ||
    path.isAbsolute(name) ||
    parts.includes('..') ||
    parts.some((part) => part.toLowerCase() === '.git')
  )
    return `${JSON.stringify(name)} is not a name git accepts for a submodule.`;
  if (url === '' || url.startsWith('-') || /[\n\0]/.test(url))
    return 'Its address in .gitmodules is not one git accepts.';
  return undefined;
}

interface Done {
  readonly outcome: { readonly kind: 'ready' } | { readonly kind: 'not_ready'; readonly why: string };
  readonly nested: readonly SubmoduleOutcome[];
}

function failed(why: string): Done {
  return { outcome: { kind: 'not_ready', why }, nested: [] };
}

async function initialise(dir: TrustedDir, parent: Parent, submodule: Submodule): Promise<Done> {
  const folder = path.join(parent.folder, submodule.path);
  const gitDir = path.join(parent.modules, submodule.name);
  const isUnfinished = existsSync(path.join(gitDir, UNFINISHED));
  const isRemade = parent.isRemade || isUnfinished;
  const there = await whatIsThere(parent.folder, submodule.path);
  // An agent may have been in it since, so git is not started there again, not even to look for nested ones.
  if (there === 'repository' && existsSync(gitDir) && !isUnfinished)
    return { outcome: { kind: 'ready' }, nested: [] };
  if (there === 'something else') return failed('A file or link is in its place.');
  if (there !== 'nothing' && !isRemade) return failed('There are files in its folder.');
  if (existsSync(gitDir)) {
    if (!isUnfinished)
      return failed('It was set up before and removed since. Run in the worktree: git submodule update');
    await rm(gitDir, { recursive: true });
  }
  const url = absoluteUrl(submodule.url, parent.url);
  if (url === undefined) return failed(`Its address ${submodule.url} is relative, and there is no remote.`);
  await lay(dir, gitDir, { folder, url });
  await linkObjects(path.join(parent.mainModules, submodule.name, 'objects'), path.join(gitDir, 'objects'));
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: folder };
  if (!(await has(dir, submodule.commit, env))) await fetch(dir, submodule.commit, env);
  await mkdir(folder, { recursive: true });
  await git(dir, ['update-ref', '--no-deref', 'HEAD', submodule.commit], { env });
  await git(dir, ['read-tree', '--reset', '-u', submodule.commit], { env, workTree: folder });
  const nested = await initialiseIn(dir, inside(parent, submodule, isRemade));
  if (there === 'repository') await rm(path.join(folder, '.git'));
  await writeFile(path.join(folder, '.git'), `gitdir: ${path.relative(folder, gitDir)}\n`, { flag: 'wx' });
  await rm(path.join(gitDir, UNFINISHED));
  return { outcome: { kind: 'ready' }, nested };
}

/** Looks at every folder on the way: a link would lead out of the worktree. */
async function whatIsThere(
  root: string,
  at: string,
): Promise<'nothing' | 'files' | 'repository' | 'something else'> {
  let folder = root;
  for (const part of at.split('/')) {
    folder = path.join(folder, part);
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined) return 'nothing';
    if (!found.isDirectory()) return 'something else';
  }
  const entries = await readdir(folder);
  if (entries.includes('.git')) return 'repository';
  return entries.length === 0 ? 'nothing' : 'files';
}

/** A git directory without a template, so without hooks. */
async function lay(
  dir: TrustedDir,
  gitDir: string,
  { folder, url }: { readonly folder: string; readonly url: string },
): Promise<void> {
  await mkdir(gitDir, { recursive: true });
  await writeFile(path.join(gitDir, UNFINISHED), '');
  const env = { GIT_DIR: gitDir };
  await git(dir, ['init', '--quiet', '--template=', `--object-format=${dir.objectFormat}`], { env });
  const file = path.join(gitDir, 'config');
  const settings = [
    ['core.bare', 'false'],
    ['core.worktree', path.relative(gitDir, folder)],
    ['remote.origin.url', url],
    ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
  ] as const;
  for (const [name, value] of settings) await git(dir, ['config', '--file', file, name, value]);
}

/** Objects never change, so the two may share them until one of them is removed. */
async function linkObjects(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const place = path.join(to, entry.name);
    if (entry.isDirectory()) {
      await mkdir(place, { recursive: true });
      await linkObjects(source, place);
    } else if (entry.name === 'alternates') {
      const lines = (readIfThere(source) ?? '').split('\n').filter((line) => line !== '');
      await writeFile(place, lines.map((line) => `${path.resolve(path.dirname(from), line)}\n`).join(''));
    } else if (entry.isFile() && !entry.name.startsWith('tmp_')) {
      await link(source, place).catch(() => copyFile(source, place));
    }
  }
}

async function has(
  dir: TrustedDir,
  commit: CommitId,
  env: Readonly<Record<string, string>>,
): Promise<boolean> {
  // Every object that the commit needs, not the commit alone: the main checkout may have a part of it.
  const { code } = await tryGit(dir, ['rev-list', '--objects', '--quiet', '--max-count=1', commit, '--'], {
    env,
  });
  return code === 0;
}

async function fetch(
  dir: TrustedDir,
  commit: CommitId,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const argv = [
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'protocol.ext.allow=never',
    'fetch',
    '--quiet',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    'origin',
  ];
  const options = { env, isNetwork: true, timeoutMs: FETCH_TIMEOUT_MS };
  await git(dir, argv, options);
  if (!(await has(dir, commit, env))) await git(dir, [...argv, commit], options);
  await gitLine(dir, ['rev-parse', '--verify', `${commit}^{commit}`], { env });
}

/** `./x` and `../x` are relative to the address of the repository around it, as for git. */
function absoluteUrl(url: string, base: string | undefined): string | undefined {
  if (!/^\.\.?\//.test(url)) return url;
  if (base === undefined) return undefined;
  let [address, rest] = [base.replace(/\/+$/, ''), url];
  for (;;) {
    if (rest.startsWith('./')) rest = rest.slice(2);
    else if (rest.startsWith('../')) {
      rest = rest.slice(3);
      const cut = Math.max(address.lastIndexOf('/'), address.lastIndexOf(':'));
      if (cut <= 0) return undefined;
      address = address.slice(0, cut);
    } else return `${address}/${rest}`;
  }
}
