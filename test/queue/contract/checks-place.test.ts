import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { openGit } from '../../../packages/copse/src/git/repository.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { openTrash } from '../../../packages/copse/src/workspaces/trash/open.ts';
import type { CommitId } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type CheckSite,
  checkSiteAt,
  done,
  logOf,
  newCheckSite,
  only,
  writeFile,
} from '../../support/queue/checks.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';

const area = newArea();

const FILES = {
  'a.txt': 'one\n',
  'src/b "ö".txt': 'two\n',
  'src/deep/c.txt': 'three\n',
  'tool.sh': '#!/bin/sh\n',
  'gone.txt': 'four\n',
};

/** Every file that is neither ignored nor Copse's, with its kind and content. */
function filesOf(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, file);
    if (/^(\.git$|\.copse|cache|out$)|\.log$/.test(name)) return [];
    if (entry.isDirectory()) return [[name, (lstatSync(file).mode & 0o700).toString(8)] as const];
    const mode = (lstatSync(file).mode & 0o777).toString(8);
    const content = entry.isSymbolicLink() ? readlinkSync(file) : readFileSync(file, 'latin1');
    return [[name, `${mode} ${content}`] as const];
  });
  return Object.fromEntries(entries);
}

let archives = 0;

/** As git itself writes them. */
function plainFiles({ root }: CheckSite, commit: CommitId): Readonly<Record<string, string>> {
  archives += 1;
  const folder = path.join(area, 'plain', String(archives));
  mkdirSync(folder, { recursive: true });
  execFileSync(
    'sh',
    ['-c', 'git archive "$1" | tar -x -C "$2" --no-same-permissions', 'sh', commit, folder],
    {
      cwd: root,
      env: { ...plainEnv },
    },
  );
  return filesOf(folder);
}

async function expectCandidate(site: CheckSite, commit: CommitId): Promise<void> {
  const end = await site.run(commit, { look: 'git rev-parse HEAD; git status --porcelain' });
  expect(logOf(only(end))).toBe(`${commit}\n`);
  expect(filesOf(site.worktree)).toEqual(plainFiles(site, commit));
  expect(git(site.worktree, 'branch', '--show-current')).toBe('');
  const kept = ['HEAD', 'commondir', 'gitdir', 'index', 'locked'];
  expect(readdirSync(site.gitDir).filter((name) => name !== 'modules')).toEqual(kept);
}

function newSite(): CheckSite {
  return newCheckSite(area, { files: FILES });
}

describe('the worktree of a slot', () => {
  it('is the candidate to the byte, detached, locked, and no branch is made or moved', async () => {
    const site = newSite();
    const before = git(site.root, 'for-each-ref', 'refs/heads');
    const commit = site.candidate({ 'a.txt': 'new\n', 'gone.txt': null, 'src/more': 'x' });
    await expectCandidate(site, commit);
    expect(git(site.root, 'for-each-ref', 'refs/heads')).toBe(before);
    expect(readFileSync(path.join(site.gitDir, 'locked'), 'utf8')).toContain('merge queue');
    expect(git(site.root, 'status', '--porcelain')).toBe('');
  });

  it('is used again for the next candidate: untracked files go, ignored ones stay', async () => {
    const site = newSite();
    const first = site.candidate({ 'only-first.txt': 'x' });
    const mess = [
      'echo kept > kept.log; mkdir -p cache out/deep empty/folder; echo kept > cache/deps',
      'echo x > untracked; echo x > "out/deep/ünd \\"x\\""; echo kept > out/some.log',
      'rm a.txt; echo changed > "src/b \\"ö\\".txt"; chmod +x src/deep/c.txt; chmod 444 tool.sh',
      'ln -s /etc outside; git init --quiet nested; echo x > nested/y; git init --quiet src/deep',
      'echo "*" > src/.gitignore; echo hidden > src/hidden',
    ].join('; ');
    expect(only(await site.run(first, { mess })).verdict).toBe('green');
    const inode = lstatSync(site.worktree).ino;
    const second = site.candidate({ 'gone.txt': null });
    await expectCandidate(site, second);
    expect(lstatSync(site.worktree).ino).toBe(inode);
    const kept = ['kept.log', 'cache/deps', 'out/some.log'];
    expect(kept.map((name) => readFileSync(path.join(site.worktree, name), 'utf8'))).toEqual(
      kept.map(() => 'kept\n'),
    );
    expect(existsSync(path.join(site.worktree, 'empty'))).toBe(false);
    expect(existsSync(path.join(site.worktree, 'src/deep/.git'))).toBe(false);
    expect(lstatSync(path.join(site.worktree, 'tool.sh')).mode & 0o200).toBe(0o200);
  });

  it('a file that one candidate ignores and the next does not is gone for the next', async () => {
    const site = newSite();
    const first = site.candidate({ '.gitignore': 'made\n' });
    only(await site.run(first, { make: 'echo x > made; echo x > kept.log' }));
    await expectCandidate(site, site.candidate({ 'made-too': 'x' }));
    expect(existsSync(path.join(site.worktree, 'made'))).toBe(false);
  });

  it('links that a check left cause no change outside', async () => {
    const site = newSite();
    const outside = path.join(area, `outside ${Math.random()}`);
    writeFile(path.join(outside, 'c.txt'), 'mine\n');
    const links = [
      `rm -r src/deep; ln -s '${outside}' src/deep; ln -s '${outside}' untracked-link`,
      `G="$(git rev-parse --absolute-git-dir)"; for f in HEAD index locked; do rm "$G/$f"; ln -s '${outside}/c.txt' "$G/$f"; done`,
    ].join('; ');
    only(await site.run(site.candidate({}), { links }));
    await expectCandidate(site, site.candidate({ 'src/deep/c.txt': 'changed\n', 'src/deep/new': 'x' }));
    expect(readdirSync(outside)).toEqual(['c.txt']);
    expect(readFileSync(path.join(outside, 'c.txt'), 'utf8')).toBe('mine\n');
  });

  it('is not misled by an index that hides a change', async () => {
    const site = newSite();
    const lie = [
      'git update-index --assume-unchanged a.txt; echo forged > a.txt',
      'git update-index --skip-worktree src/deep/c.txt; echo forged > src/deep/c.txt',
      'git update-index --force-remove tool.sh; rm tool.sh',
    ].join('; ');
    expect(only(await site.run(site.candidate({}), { lie })).verdict).toBe('green');
    await expectCandidate(site, site.candidate({ other: 'x' }));
  });

  it('is not misled by a folder that was moved away, with a link to it in its place', async () => {
    const site = newSite();
    const away = path.join(area, `away ${Math.random()}`);
    // An ignore file and a repository that would go if they were in the worktree.
    const move = `mv src '${away}' && ln -s '${away}' src && echo '*' > src/.gitignore && git init --quiet src/deep`;
    only(await site.run(site.candidate({}), { move }));
    await expectCandidate(site, site.candidate({ other: 'x' }));
    expect(lstatSync(path.join(site.worktree, 'src')).isDirectory()).toBe(true);
    expect(readFileSync(path.join(away, 'deep/c.txt'), 'utf8')).toBe('three\n');
    expect(existsSync(path.join(away, '.gitignore'))).toBe(true);
    expect(existsSync(path.join(away, 'deep/.git'))).toBe(true);
  });

  it('is not misled by a moved folder in which a file of the next candidate differs', async () => {
    const site = newSite();
    const away = path.join(area, `away ${Math.random()}`);
    only(await site.run(site.candidate({}), { move: `mv src '${away}' && ln -s '${away}' src` }));
    await expectCandidate(site, site.candidate({ 'src/deep/c.txt': 'new\n' }));
    expect(readFileSync(path.join(away, 'deep/c.txt'), 'utf8')).toBe('three\n');
  });

  it.each<readonly [string, (site: CheckSite) => void]>([
    ['its folder was deleted', ({ worktree }) => rmSync(worktree, { recursive: true })],
    ['its index was deleted', ({ gitDir }) => rmSync(path.join(gitDir, 'index'))],
    ['its index is not one', ({ gitDir }) => writeFileSync(path.join(gitDir, 'index'), 'nonsense')],
    [
      'a killed git left locks',
      ({ gitDir }) => ['index', 'HEAD'].forEach((n) => writeFileSync(path.join(gitDir, `${n}.lock`), '')),
    ],
    [
      'a killed git of Copse left a lock',
      ({ root }) => writeFileSync(path.join(root, '.copse/queue/1/index.lock'), ''),
    ],
    [
      'what Copse knew of it is gone',
      ({ root }) => rmSync(path.join(root, '.copse/queue'), { recursive: true }),
    ],
    [
      'what Copse knew of it is nonsense',
      ({ root }) => writeFileSync(path.join(root, '.copse/queue/1/index'), 'x'),
    ],
    [
      'HEAD was moved to a branch',
      ({ gitDir }) => writeFileSync(path.join(gitDir, 'HEAD'), 'ref: refs/heads/main\n'),
    ],
    ['HEAD is nonsense', ({ gitDir }) => writeFileSync(path.join(gitDir, 'HEAD'), 'nonsense\n')],
    [
      'a merge is in progress',
      ({ gitDir }) => writeFileSync(path.join(gitDir, 'MERGE_HEAD'), `${'0'.repeat(40)}\n`),
    ],
    ['its .git is gone', ({ worktree }) => rmSync(path.join(worktree, '.git'))],
    [
      'its .git leads elsewhere',
      ({ worktree, root }) => writeFileSync(path.join(worktree, '.git'), `gitdir: ${root}/.git\n`),
    ],
    ['git forgot where it is', ({ gitDir }) => rmSync(path.join(gitDir, 'gitdir'))],
    ['a folder of it is locked', ({ worktree }) => chmodSync(path.join(worktree, 'src'), 0o500)],
    [
      'a locked folder is in the way',
      ({ worktree }) => {
        writeFile(path.join(worktree, 'x/y/z'), '');
        chmodSync(path.join(worktree, 'x/y'), 0o500);
      },
    ],
  ])('is repaired or made anew when %s', async (_, damage) => {
    const site = newSite();
    expect(only(await site.run(site.candidate({}), { check: 'true' })).verdict).toBe('green');
    damage(site);
    const commit = site.candidate({ 'a.txt': 'new\n' });
    await expectCandidate(site, commit);
  });

  it('is made anew after an interrupted creation, ignored files included', async () => {
    const site = newSite();
    expect(only(await site.run(site.candidate({}), { check: 'echo x > old.log' })).verdict).toBe('green');
    writeFileSync(path.join(site.gitDir, 'copse-unfinished'), '');
    await expectCandidate(site, site.candidate({}));
    expect(existsSync(path.join(site.worktree, 'old.log'))).toBe(false);
  });

  it('goes to the trash when it is made anew, and no undo offers it', async () => {
    const site = newSite();
    only(await site.run(site.candidate({}), { nested: 'git init --quiet cache && rm .git' }));
    only(await site.run(site.candidate({}), { check: 'true' }));
    const trash = openTrash(site.root, 'sha1');
    const [entry] = await trash.all();
    expect(entry?.record).toMatchObject({ why: 'leftover', task: 'queue', path: site.worktree });
    // A repository in a task's worktree may be work to keep; here it never is.
    if (entry) expect(await trash.delete(entry)).toEqual({ kind: 'deleted' });
    expect(await trash.all()).toEqual([]);
  });

  // promise: unknown-kept
  it.each<readonly [string, (at: string, site: CheckSite) => void]>([
    ['a folder with files', (at) => writeFile(path.join(at, 'mine'), 'mine\n')],
    ['a file', (at) => writeFile(at, 'mine\n')],
    [
      'a link',
      (at, { root }) => {
        mkdirSync(path.dirname(at), { recursive: true });
        symlinkSync(root, at);
      },
    ],
    ['another worktree', (at, { root }) => git(root, 'worktree', 'add', '--quiet', '-b', 'mine', at)],
    [
      'a repository',
      (at) => {
        mkdirSync(at, { recursive: true });
        git(at, 'init', '--quiet');
      },
    ],
  ])('%s at its path is left alone, and the run is infrastructure', async (_, put) => {
    const site = newSite();
    const commit = site.candidate({});
    put(site.worktree, site);
    const before = lstatSync(site.worktree).ino;
    // Git calls a worktree of somebody else as it likes.
    if (existsSync(site.gitDir)) renameSync(site.gitDir, `${site.gitDir}-theirs`);
    const end = await site.run(commit, { check: 'true' });
    expect(end).toMatchObject({ kind: 'infrastructure' });
    expect(lstatSync(site.worktree).ino).toBe(before);
    expect(await openTrash(site.root, 'sha1').all()).toEqual([]);
  });

  it('a worktree elsewhere that has its name is left alone too', async () => {
    const site = newSite();
    const commit = site.candidate({});
    const other = path.join(area, `theirs ${Math.random()}`, 'copse-queue-1');
    git(site.root, 'worktree', 'add', '--quiet', '--detach', other);
    expect(await site.run(commit, { check: 'true' })).toMatchObject({ kind: 'infrastructure' });
    expect(existsSync(path.join(other, 'a.txt'))).toBe(true);
    expect(existsSync(site.gitDir)).toBe(true);
  });

  it('works after its repository was moved', async () => {
    const site = newSite();
    const commit = site.candidate({ 'a.txt': 'new\n' });
    only(await site.run(commit, { check: 'echo kept > kept.log' }));
    const moved = `${site.root} moved`;
    renameSync(site.root, moved);
    const after = checkSiteAt(moved);
    await expectCandidate(after, commit);
    expect(readFileSync(path.join(after.worktree, 'kept.log'), 'utf8')).toBe('kept\n');
  });

  it('cannot be made for a missing commit, which is infrastructure', async () => {
    const site = newSite();
    const end = await site.run('1'.repeat(40) as CommitId, { check: 'true' });
    expect(end).toMatchObject({ kind: 'infrastructure' });
    // Git would fail to fetch anything as long as a worktree is at a commit that is not there.
    expect(existsSync(site.gitDir)).toBe(false);
    await expectCandidate(site, site.candidate({}));
  });

  it('has only the folders of a sparse copse.yml, and git status is clean', async () => {
    const site = newCheckSite(area, {
      files: { ...FILES, 'other/x': 'x' },
      settings: { sparse: ['src/deep'] },
    });
    const first = site.candidate({ 'src/deep/new': 'x', 'src/deep/made.log': 'x', 'other/y': 'y' });
    const second = site.candidate({ 'src/deep/c.txt': null, 'other/x': 'changed', 'tool.sh': 'changed' });
    const objects = git(site.root, 'count-objects');
    const look = { look: 'git status --porcelain; git ls-files -t' };
    const always = ['.gitignore', 'a.txt', 'gone.txt', 'src/b "ö".txt', 'tool.sh'];
    const filesIn = (folder: string) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== '.git')
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));

    const before = logOf(only(await site.run(first, look)));
    expect(new Set(filesIn(site.worktree))).toEqual(
      new Set([...always, 'src/deep/c.txt', 'src/deep/new', 'src/deep/made.log']),
    );
    expect(before).toMatch(/^H .*\nS other\/x\nS other\/y\nH /s);
    const after = logOf(only(await site.run(second, look)));
    // Also the tracked file that git ignores: it belongs to a commit that this one does not come from.
    expect(new Set(filesIn(site.worktree))).toEqual(new Set(always));
    expect(after).toMatch(/^H .*\nS other\/x\nH /s);
    expect(readFileSync(path.join(site.worktree, 'tool.sh'), 'utf8')).toBe('changed');
    expect(git(site.root, 'count-objects')).toBe(objects);
  });

  it('has the submodules of the candidate, also after an earlier check changed them', async () => {
    const inner = newCheckSite(area, { files: { in: 'one\n' } }).root;
    const site = newSite();
    git(site.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'libs/inner');
    git(site.root, 'commit', '--quiet', '--message=submodule');
    const one = git(site.root, 'rev-parse', 'HEAD') as CommitId;
    writeFileSync(path.join(inner, 'in'), 'two\n');
    git(inner, 'commit', '--quiet', '--all', '--message=two');
    git(path.join(site.root, 'libs/inner'), 'pull', '--quiet');
    git(site.root, 'commit', '--quiet', '--all', '--message=newer');
    const two = git(site.root, 'rev-parse', 'HEAD') as CommitId;
    const spoil =
      'cat libs/inner/in; echo x > libs/inner/in; echo x > libs/inner/other; echo "[core] pager = false" >> "$(git -C libs/inner rev-parse --absolute-git-dir)/config"';
    expect(logOf(only(await site.run(one, { spoil })))).toBe('one\n');
    expect(logOf(only(await site.run(two, { spoil })))).toBe('two\n');
    expect(logOf(only(await site.run(one, { look: 'cat libs/inner/*; git status --porcelain' })))).toBe(
      'one\n',
    );
    await expectCandidate(site, site.candidate({ libs: null, '.gitmodules': null }));
    expect(existsSync(path.join(site.worktree, 'libs'))).toBe(false);
  });
});

describe('to the rest of Copse', () => {
  it('is a worktree of the queue, and of no task', async () => {
    const site = newSite();
    only(await site.run(site.candidate({}), { check: 'true' }));
    const dir = openTrustedDir({ commonDir: path.join(site.root, '.git'), home: site.root });
    const known = openGit(dir, defaultPolicy).worktrees();
    expect(known).toEqual([{ name: 'copse-queue-1', path: site.worktree }]);
    expect(done(await site.run(site.candidate({}), {}, { slot: 2 }))).toEqual([]);
    expect(readdirSync(path.join(site.root, '.worktrees'))).toEqual(['copse-queue-1', 'copse-queue-2']);
  });
});
