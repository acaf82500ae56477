/** Copse's own git directory: what it shares with the repository, in every kind of repository. */

import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { git as trusted, gitLine, type TrustedDir } from '../../../packages/copse/src/git/process.ts';
import {
  acceptRemotes,
  fetchBranches,
  pushDelete,
  remoteName,
} from '../../../packages/copse/src/git/refs/remote.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type BranchName, type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { finished, git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();
let folders = 0;

function newFolder(): string {
  folders += 1;
  const folder = path.join(area, `földer '${folders}'`);
  mkdirSync(folder);
  return folder;
}

function openAt(folder: string): TrustedDir {
  const repository = findRepository(folder);
  if (repository === undefined) throw new Error(`${folder} is no repository`);
  return openTrustedDir(repository);
}

const branches = (...names: readonly string[]) => names.map((name) => brand<BranchName>(name));
const tipOf = (folder: string, ref: string) => brand<CommitId>(git(folder, 'rev-parse', ref));

describe('refs', () => {
  it('that are packed are moved and deleted, and plain git sees the change', async () => {
    const top = newRepository(area);
    for (const name of ['one', 'two', 'three']) git(top, 'branch', name);
    git(top, 'pack-refs', '--all');
    const dir = openAt(top);
    const first = tipOf(top, 'main');
    git(top, 'commit', '--quiet', '--allow-empty', '--message=second');
    const second = tipOf(top, 'main');
    await trusted(dir, ['update-ref', 'refs/heads/one', second, first]);
    await trusted(dir, ['update-ref', '-d', 'refs/heads/two', first]);
    expect(git(top, 'for-each-ref', '--format=%(refname:short) %(objectname)').split('\n')).toEqual([
      `main ${second}`,
      `one ${second}`,
      `three ${first}`,
    ]);
    await trusted(dir, ['pack-refs', '--all']);
    expect(lstatSync(path.join(dir.plain, 'packed-refs')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path.join(top, '.git', 'packed-refs'), 'utf8')).toContain(`${second} refs/heads/one`);
  });

  it('that are packed survive simultaneous deletions of others by Copse and plain git', async () => {
    const top = newRepository(area);
    const names = Array.from({ length: 40 }, (_, index) => `b${index}`);
    const tip = tipOf(top, 'main');
    for (const name of names) git(top, 'branch', name);
    git(top, 'pack-refs', '--all');
    const dir = openAt(top);
    const isOurs = (index: number) => index % 2 === 0;
    await Promise.all(
      names
        .slice(0, 30)
        .map((name, index) =>
          isOurs(index)
            ? trusted(dir, [
                '-c',
                'core.packedRefsTimeout=20000',
                'update-ref',
                '-d',
                `refs/heads/${name}`,
                tip,
              ])
            : finished(
                spawn('git', ['-c', 'core.packedRefsTimeout=20000', 'branch', '-D', name], { cwd: top }),
              ),
        ),
    );
    expect(git(top, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n')).toEqual(
      [...names.slice(30), 'main'].toSorted(),
    );
  });
});

describe('of any kind', () => {
  const kinds: Readonly<Record<string, () => { readonly folder: string; readonly ref: string }>> = {
    'a bare repository': () => {
      const folder = path.join(newFolder(), 'bare.git');
      git(area, 'clone', '--quiet', '--bare', newRepository(area), folder);
      return { folder, ref: 'refs/heads/main' };
    },
    'a submodule': () => {
      const [inner, outer] = [newRepository(area), newRepository(area)];
      git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub');
      return { folder: path.join(outer, 'sub'), ref: 'refs/heads/main' };
    },
    'a repository with SHA-256': () => {
      const folder = newFolder();
      git(folder, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
      git(folder, 'commit', '--quiet', '--allow-empty', '--message=first');
      return { folder, ref: 'refs/heads/main' };
    },
    'a linked worktree': () => {
      const top = newRepository(area);
      const folder = path.join(newFolder(), 'linked');
      git(top, 'worktree', 'add', '--quiet', folder);
      return { folder, ref: 'refs/heads/linked' };
    },
  };

  it.each(Object.entries(kinds))('%s: a commit made there is what plain git sees', async (_, make) => {
    const { folder, ref } = make();
    const dir = openAt(folder);
    const tip = tipOf(folder, ref);
    expect(await gitLine(dir, ['rev-parse', ref])).toBe(tip);
    const workTree = newFolder();
    writeFileSync(path.join(workTree, 'file'), 'text\r\nmore');
    const index = path.join(newFolder(), 'index');
    await trusted(dir, ['add', '--all'], { workTree, index, isRaw: true });
    const tree = await gitLine(dir, ['write-tree'], { index });
    const env = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a',
    };
    const commit = await gitLine(dir, ['commit-tree', '-p', ref, '-m', 'made', tree], { env });
    await trusted(dir, ['update-ref', ref, commit, tip]);
    expect(git(folder, 'show', `${ref}:file`)).toBe('text\r\nmore');
    expect(git(folder, 'rev-list', '--count', ref)).toBe('2');
  });

  it('a shallow clone keeps its history, and fetches', async () => {
    const origin = newRepository(area);
    for (const message of ['second', 'third']) {
      git(origin, 'commit', '--quiet', '--allow-empty', `--message=${message}`);
    }
    const folder = path.join(newFolder(), 'shallow');
    git(area, 'clone', '--quiet', '--depth=1', `file://${origin}`, folder);
    const dir = openAt(folder);
    expect(await gitLine(dir, ['rev-list', '--count', 'refs/heads/main'])).toBe('1');
    git(origin, 'commit', '--quiet', '--allow-empty', '--message=fourth');
    expect(await fetchBranches(dir, 'origin', branches('main'))).toEqual({ kind: 'fetched' });
    expect(await gitLine(dir, ['rev-list', '--count', 'refs/remotes/origin/main'])).toBe('2');
    git(folder, 'fsck', '--connectivity-only');
    git(folder, 'fetch', '--quiet', '--unshallow');
    expect(await gitLine(openAt(folder), ['rev-list', '--count', 'refs/remotes/origin/main'])).toBe('4');
  });

  it('a moved repository works, with the refs at the new path', async () => {
    const before = newRepository(area);
    openAt(before);
    const after = path.join(newFolder(), 'moved');
    renameSync(before, after);
    const dir = openAt(after);
    const tip = tipOf(after, 'main');
    await trusted(dir, ['update-ref', 'refs/heads/new', tip, '0'.repeat(40)]);
    expect(tipOf(after, 'new')).toBe(tip);
    expect(existsSync(before)).toBe(false);
  });

  it('one with another ref format is refused with a message', () => {
    const top = newRepository(area);
    git(top, 'config', 'core.repositoryFormatVersion', '1');
    git(top, 'config', 'extensions.refStorage', 'reftable');
    expect(() => openAt(top)).toThrow('stores its refs as reftable, which Copse does not support');
  });
});

describe('the directory', () => {
  // promise: own-git-directory
  it('is refused when a link leads elsewhere', () => {
    for (const inside of ['.copse', '.copse/git', '.copse/git/plain']) {
      const top = newRepository(area);
      const at = path.join(top, inside);
      mkdirSync(path.dirname(at), { recursive: true });
      symlinkSync(newFolder(), at);
      expect(() => openAt(top)).toThrow('is a link');
    }
  });

  // promise: own-git-directory
  it('ignores files in a .copse folder that the repository contains', async () => {
    const top = newRepository(area);
    const evil = newFolder();
    git(evil, 'init', '--quiet', '--bare', '.');
    const marker = path.join(evil, 'marker');
    git(evil, 'config', 'alias.copse', '!touch marker');
    const plain = path.join(top, '.copse', 'git', 'plain');
    mkdirSync(path.join(plain, 'info'), { recursive: true });
    writeFileSync(path.join(plain, 'commondir'), `${evil}\n`);
    writeFileSync(path.join(plain, 'info', 'attributes'), '* filter=evil\n');
    writeFileSync(path.join(plain, 'config'), `[alias]\n\tcopse = "!touch '${marker}'"\n`);
    const dir = openAt(top);
    await expect(trusted(dir, ['copse'])).rejects.toThrow('not a git command');
    expect(await gitLine(dir, ['rev-parse', 'refs/heads/main'])).toBe(tipOf(top, 'main'));
    expect(existsSync(marker)).toBe(false);
  });

  // promise: own-git-directory
  it.each([
    'hooks/pre-commit',
    'commondir',
    'config.worktree',
    'worktrees/x',
    'info/grafts',
    'info/attributes',
  ])('is made anew when %s was put into it', (file) => {
    const top = newRepository(area);
    const dir = openAt(top);
    for (const gitDir of [dir.plain, dir.raw]) {
      const put = path.join(gitDir, file);
      const before = existsSync(put) ? readFileSync(put, 'utf8') : null;
      mkdirSync(path.dirname(put), { recursive: true });
      writeFileSync(put, '* filter=evil\n');
      openAt(top);
      expect(existsSync(put) ? readFileSync(put, 'utf8') : null).toBe(before);
    }
  });

  it('is complete when sixteen processes make it at once', async () => {
    const top = newRepository(area);
    const source = (name: string) =>
      JSON.stringify(fileURLToPath(new URL(`../../../packages/copse/src/git/${name}`, import.meta.url)));
    const script = `
      import { openTrustedDir } from ${source('directory/trusted-dir.ts')};
      import { gitLine } from ${source('process.ts')};
      const dir = openTrustedDir({ commonDir: process.argv[1] + '/.git', home: process.argv[1] });
      process.stdout.write(await gitLine(dir, ['rev-parse', 'refs/heads/main']));`;
    const start = (): ChildProcess =>
      spawn(process.execPath, ['--input-type=module', '--eval', script, top], { stdio: 'pipe' });
    const outcomes = await Promise.all(Array.from({ length: 16 }, () => finished(start())));
    expect(new Set(outcomes.map(({ stdout, stderr }) => stdout + stderr))).toEqual(
      new Set([tipOf(top, 'main')]),
    );
    const left = readdirSync(path.join(top, '.copse', 'git'), { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /\.[0-9a-f]{18}$/.test(name))).toEqual([]);
  });

  it('treats an address with any characters as an address only', () => {
    const top = newRepository(area);
    const url = `https://example.invalid/a.b=c?core.fsmonitor="x"#;\\y`;
    git(top, 'remote', 'add', 'origin', url);
    const dir = openAt(top);
    expect(git(top, 'config', '--file', path.join(dir.plain, 'config'), 'remote.origin.url')).toBe(url);
  });
});

describe('remotes', () => {
  function withOrigin(): { readonly top: string; readonly origin: string; readonly dir: TrustedDir } {
    const top = newRepository(area);
    git(top, 'branch', 'work/one');
    const origin = path.join(newFolder(), 'origin ü.git');
    git(area, 'clone', '--quiet', '--bare', top, origin);
    git(top, 'remote', 'add', 'origin', `file://${origin}`);
    return { top, origin, dir: openAt(top) };
  }

  it('are fetched from; a branch that they lack is not a failure', async () => {
    const { top, dir } = withOrigin();
    expect(remoteName(dir)).toBe('origin');
    expect(await fetchBranches(dir, 'origin', branches('main', 'never', 'work/one'))).toEqual({
      kind: 'fetched',
    });
    expect(git(top, 'for-each-ref', '--format=%(refname)', 'refs/remotes', 'refs/copse').split('\n')).toEqual(
      ['refs/remotes/origin/main', 'refs/remotes/origin/work/one'],
    );
  });

  // promise: remote-address-pinned
  it('are not used at a new address before a person accepts it', async () => {
    const { top, origin, dir } = withOrigin();
    const other = path.join(newFolder(), 'other.git');
    renameSync(origin, other);
    git(top, 'remote', 'set-url', 'origin', `file://${other}`);
    const refused = await fetchBranches(openAt(top), 'origin', branches('main'));
    expect(refused).toMatchObject({ kind: 'failed', because: 'remote_changed' });
    expect(JSON.stringify(refused)).toContain(origin);
    expect(JSON.stringify(refused)).toContain(other);
    const deletion = await pushDelete(openAt(top), 'origin', brand('work/one'), tipOf(top, 'main'));
    expect(deletion).toEqual({
      kind: 'refused',
      reason: expect.stringContaining('copse config accept-remotes'),
    });
    expect(acceptRemotes(dir)).toEqual(new Map([['origin', `file://${other}`]]));
    expect(await fetchBranches(openAt(top), 'origin', branches('main'))).toEqual({ kind: 'fetched' });
  });

  // promise: passwords-hidden
  it('that cannot be reached give an outcome with one sentence, without the password', async () => {
    const top = newRepository(area);
    git(top, 'remote', 'add', 'origin', 'git://127.0.0.1:1/nothing');
    git(top, 'remote', 'add', 'web', 'http://ada:secret@127.0.0.1:1/nothing');
    const dir = openAt(top);
    for (const remote of ['origin', 'web']) {
      const outcome = await fetchBranches(dir, remote, branches('main'));
      expect(outcome).toMatchObject({ kind: 'failed', because: 'unreachable' });
      expect(outcome).toHaveProperty('reason', expect.stringMatching(/^\S+ could not be reached: .+\.$/));
      expect(JSON.stringify(outcome)).not.toContain('secret');
    }
    expect(await fetchBranches(dir, 'absent', branches('main'))).toMatchObject({ because: 'no_remote' });
    const deletion = await pushDelete(dir, 'origin', brand('main'), tipOf(top, 'main'));
    expect(deletion).toEqual({
      kind: 'refused',
      reason: expect.stringContaining('could not be reached'),
    });
  });

  it('that do not answer time out, and every started process ends', async () => {
    const top = newRepository(area);
    git(top, 'remote', 'add', 'origin', 'ssh://example.invalid/x');
    const pidFile = path.join(newFolder(), 'pid');
    const before = process.env['GIT_SSH_COMMAND'];
    process.env['GIT_SSH_COMMAND'] =
      `sh -c 'echo $$ > "$0"; exec sleep 1000' '${pidFile.replaceAll("'", `'\\''`)}'`;
    try {
      const outcome = await fetchBranches(openAt(top), 'origin', branches('main'), 3_000);
      expect(outcome).toMatchObject({ kind: 'failed', because: 'unreachable' });
      expect(outcome).toHaveProperty('reason', expect.stringContaining('longer than'));
    } finally {
      if (before === undefined) delete process.env['GIT_SSH_COMMAND'];
      else process.env['GIT_SSH_COMMAND'] = before;
    }
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('lose a branch only if it has the expected tip', async () => {
    const { top, origin, dir } = withOrigin();
    const branch = brand<BranchName>('work/one');
    const old = tipOf(top, 'main');
    const deletion = (tip: CommitId) => pushDelete(dir, 'origin', branch, tip);
    git(top, 'commit', '--quiet', '--allow-empty', '--message=newer');
    git(top, 'push', '--quiet', 'origin', 'main:work/one');
    expect(await deletion(old)).toMatchObject({ kind: 'changed' });
    expect(tipOf(origin, 'work/one')).toBe(tipOf(top, 'main'));
    expect(await deletion(tipOf(top, 'main'))).toEqual({ kind: 'deleted' });
    expect(git(origin, 'for-each-ref', 'refs/heads/work')).toBe('');
    expect(await deletion(tipOf(top, 'main'))).toEqual({ kind: 'absent' });
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Ended, though nobody has asked for its exit code yet.
    const status = `/proc/${pid}/status`;
    return !existsSync(status) || !/^State:\tZ/m.test(readFileSync(status, 'utf8'));
  } catch {
    return false;
  }
}
