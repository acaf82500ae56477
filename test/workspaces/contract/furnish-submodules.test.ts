import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { git, newArea, newRepository } from '../../support/cli.ts';
import { addWorktree, newFixture, write } from '../../support/workspaces/furnishing.ts';

const area = newArea();

const allowFiles = ['-c', 'protocol.file.allow=always'];

function library(files: Readonly<Record<string, string>> = { 'lib.c': 'library' }): string {
  const folder = newRepository(area);
  write(folder, files);
  commit(folder);
  return folder;
}

function withSubmodule(url: string, at = 'vendor/lib ü'): string {
  const root = newRepository(area);
  git(root, ...allowFiles, 'submodule', 'add', '--quiet', '--name', 'my lib', url, at);
  commit(root);
  return root;
}

function commit(folder: string): void {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=more');
}

const at = 'vendor/lib ü';

describe('submodules of a worktree', () => {
  test('are ready without the network when the main checkout has them, and plain git works there', async () => {
    const url = library();
    const root = withSubmodule(url);
    const { worktree, request, furnish } = addWorktree(root);
    renameSync(url, `${url} is gone`);
    expect((await furnish()).submodules).toEqual([{ path: at, kind: 'ready' }]);
    const folder = path.join(worktree, at);
    expect(readFileSync(path.join(folder, 'lib.c'), 'utf8')).toBe('library');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(git(folder, 'rev-parse', '--absolute-git-dir')).toBe(
      path.join(request.target.gitDir, 'modules/my lib'),
    );
    write(folder, { 'new.c': 'by an agent' });
    commit(folder);
    expect(git(worktree, 'status', '--porcelain', '-z')).toBe(` M ${at}\0`);
    expect(git(path.join(root, at), 'status', '--porcelain')).toBe('');
    expect(git(worktree, 'submodule', 'status')).toMatch(/^\+/);
  });

  test('come from their address when the main checkout does not have them', async () => {
    const nested = library({ 'nested.c': 'n' });
    const url = library();
    git(url, ...allowFiles, 'submodule', 'add', '--quiet', nested, 'inner');
    commit(url);
    const clone = path.join(area, 'clone without submodules');
    git(area, 'clone', '--quiet', withSubmodule(url), clone);
    const { worktree, furnish } = addWorktree(clone);
    expect((await furnish()).submodules).toEqual([
      { path: at, kind: 'ready' },
      { path: `${at}/inner`, kind: 'ready' },
    ]);
    expect(readFileSync(path.join(worktree, at, 'inner/nested.c'), 'utf8')).toBe('n');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(git(path.join(worktree, at), 'status', '--porcelain')).toBe('');
  });

  test('with a relative address are found beside the remote', async () => {
    const url = library();
    const upstream = newRepository(area);
    write(upstream, { '.gitmodules': `[submodule "l"]\n\tpath = l\n\turl = "../${path.basename(url)}"\n` });
    git(upstream, 'update-index', '--add', '--cacheinfo', `160000,${git(url, 'rev-parse', 'HEAD')},l`);
    git(upstream, 'add', '.gitmodules');
    git(upstream, 'commit', '--quiet', '--message=submodule');
    const clone = path.join(area, 'clone with a relative one');
    git(area, 'clone', '--quiet', upstream, clone);
    const { worktree, furnish } = addWorktree(clone);
    expect((await furnish()).submodules).toEqual([{ path: 'l', kind: 'ready' }]);
    expect(existsSync(path.join(worktree, 'l/lib.c'))).toBe(true);
  });

  test('that are not available are reported one by one, and the others are ready', async () => {
    const url = library();
    const root = withSubmodule(url);
    const head = git(url, 'rev-parse', 'HEAD');
    const bad = (name: string, address: string, folder: string) => {
      const line = `[submodule "${name}"]\n\tpath = ${folder}\n\turl = ${address}\n\tupdate = !touch ran\n`;
      writeFileSync(
        path.join(root, '.gitmodules'),
        readFileSync(path.join(root, '.gitmodules'), 'utf8') + line,
      );
      git(root, 'update-index', '--add', '--cacheinfo', `160000,${head},${folder}`);
    };
    const ran = path.join(area, 'ran');
    bad('../../hooks', url, 'a-name');
    bad('ext', `"ext::sh -c 'touch ${ran}'"`, 'b-ext');
    bad('option', `"--upload-pack=touch ${ran}"`, 'c-option');
    bad('gone', path.join(area, 'nowhere'), 'd-gone');
    git(root, 'update-index', '--add', '--cacheinfo', `160000,${head},e-undescribed`);
    git(root, 'add', '.gitmodules');
    git(root, 'commit', '--quiet', '--message=bad ones');
    const { furnish } = addWorktree(root);
    const { submodules, setup } = await furnish();
    expect(submodules.map((one) => [one.path, one.kind])).toEqual([
      ['a-name', 'not_ready'],
      ['b-ext', 'not_ready'],
      ['c-option', 'not_ready'],
      ['d-gone', 'not_ready'],
      ['e-undescribed', 'not_ready'],
      [at, 'ready'],
    ]);
    expect(setup.kind).toBe('done');
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(path.join(root, '.git/worktrees/hooks'))).toBe(false);
  });

  test('are made again after a run that was killed, and left alone once an agent may have worked there', async () => {
    const root = withSubmodule(library());
    const { worktree, request, furnish } = addWorktree(root);
    const gitDir = path.join(request.target.gitDir, 'modules/my lib');
    write(gitDir, { 'copse-unfinished': '', HEAD: 'half' });
    write(path.join(worktree, at), { 'lib.c': 'ha' });
    const again = () => {
      rmSync(request.record ?? '', { force: true });
      return furnish();
    };
    expect((await again()).submodules).toEqual([{ path: at, kind: 'ready' }]);
    expect(readFileSync(path.join(worktree, at, 'lib.c'), 'utf8')).toBe('library');
    write(path.join(worktree, at), { 'lib.c': 'edited' });
    // What an agent configures there must not run when Copse looks again.
    const ran = path.join(area, 'fsmonitor ran');
    git(path.join(worktree, at), 'config', 'core.fsmonitor', `touch '${ran}'; false`);
    expect((await again()).submodules).toEqual([{ path: at, kind: 'ready' }]);
    expect(readFileSync(path.join(worktree, at, 'lib.c'), 'utf8')).toBe('edited');
    expect(existsSync(ran)).toBe(false);
    rmSync(path.join(worktree, at), { recursive: true });
    expect((await again()).submodules).toMatchObject([{ path: at, kind: 'not_ready' }]);
    expect(existsSync(path.join(gitDir, 'HEAD'))).toBe(true);
  });

  // promise: no-link-followed
  test('are not written through a link that is in their place', async () => {
    const victim = path.join(area, 'victim');
    mkdirSync(victim);
    const { worktree, furnish } = addWorktree(withSubmodule(library()));
    rmSync(path.join(worktree, 'vendor'), { recursive: true });
    symlinkSync(victim, path.join(worktree, 'vendor'));
    expect((await furnish()).submodules).toMatchObject([{ path: at, kind: 'not_ready' }]);
    expect(execFileSync('ls', ['-A', victim], { encoding: 'utf8' })).toBe('');
  });
});

describe('Git LFS', () => {
  const oid = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 5\n`;
  const tracked = { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'a/big.bin': pointer };

  function isInstalled(): boolean {
    try {
      execFileSync('git-lfs', ['version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  test.runIf(isInstalled())(
    'pointers become files when their objects are here, and git sees no change',
    async () => {
      const { root, worktree, furnish } = newFixture(area, { tracked });
      git(root, 'lfs', 'install', '--local');
      write(path.join(root, '.git/lfs/objects/2c/f2'), { [oid]: 'hello' });
      expect((await furnish()).notes).toEqual([]);
      expect(readFileSync(path.join(worktree, 'a/big.bin'), 'utf8')).toBe('hello');
      expect(git(worktree, 'status', '--porcelain')).toBe('');
    },
  );

  test.runIf(isInstalled())('pointers stay unchanged when the filter is not git-lfs', async () => {
    const { root, worktree, furnish } = newFixture(area, { tracked });
    const ran = path.join(area, 'filter ran');
    for (const name of ['clean', 'smudge', 'process'])
      git(root, 'config', `filter.lfs.${name}`, `touch '${ran}'`);
    await furnish();
    expect(existsSync(ran)).toBe(false);
    expect(readFileSync(path.join(worktree, 'a/big.bin'), 'utf8')).toBe(pointer);
  });

  test.runIf(isInstalled())(
    'a pointer that cannot be fetched is a note, and the file stays as it was',
    async () => {
      const { root, worktree, furnish } = newFixture(area, { tracked });
      git(root, 'lfs', 'install', '--local');
      const { notes, setup } = await furnish();
      expect(notes).toEqual([expect.stringMatching(/^1 file is a Git LFS pointer and could not be fetched/)]);
      expect(readFileSync(path.join(worktree, 'a/big.bin'), 'utf8')).toBe(pointer);
      expect(git(worktree, 'status', '--porcelain')).toBe('');
      expect(setup.kind).toBe('done');
    },
  );

  test.runIf(isInstalled())(
    'without filters the files would look changed, so the person is told',
    async () => {
      const { worktree, furnish } = newFixture(area, { tracked });
      expect((await furnish()).notes).toEqual([
        `1 file is a Git LFS pointer: git lfs install, then in ${worktree}: git lfs pull`,
      ]);
      expect(git(worktree, 'status', '--porcelain')).toBe('');
    },
  );

  test('without git-lfs the person is told what to do', async () => {
    const { worktree, furnish } = newFixture(area, { tracked });
    const folder = path.join(area, 'only git');
    mkdirSync(folder);
    symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), path.join(folder, 'git'));
    const before = process.env['PATH'];
    process.env['PATH'] = folder;
    try {
      expect((await furnish()).notes).toEqual([
        `1 file is a Git LFS pointer: install git-lfs, then in ${worktree}: git lfs pull`,
      ]);
    } finally {
      process.env['PATH'] = before;
    }
  });
});
