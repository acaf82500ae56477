/** What making a rescue leaves alone, when it fails, and how rescues are found again, with real git. */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { git, newArea, newRepository } from '../../support/cli.ts';
import {
  FILES,
  type Site,
  comesBack,
  everyByte,
  newSite,
  saved,
  siteAt,
  snapshot,
  task,
  write,
} from '../../support/workspaces/rescues.ts';

const area = newArea();

describe('a rescue does not change or include', () => {
  // promise: rescue-writes-nothing
  test('index, HEAD, branch and files, down to their times', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'staged\n');
    git(site.worktree, 'add', 'a.txt');
    write(site.worktree, 'a.txt', 'edited\n');
    write(site.worktree, 'untracked', 'x');
    git(site.worktree, 'update-index', '--assume-unchanged', 'b/d.txt');
    write(site.worktree, 'b/d.txt', 'hidden\n');
    const before = everyByte(site);
    await saved(site);
    expect(everyByte(site)).toEqual(before);
  });

  test('a worktree without unsaved work, which gets no rescue', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'committed\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=kept by its branch');
    const before = everyByte(site);
    expect(await snapshot(site)).toEqual({ kind: 'nothing_to_save' });
    expect(await site.rescues.list()).toEqual([]);
    expect(everyByte(site)).toEqual(before);
  });

  test('ignored files', async () => {
    const site = newSite(area, { '.gitignore': 'node_modules\n' });
    write(site.worktree, 'node_modules/x', 'ignored');
    expect(await snapshot(site)).toEqual({ kind: 'nothing_to_save' });
    writeFileSync(path.join(site.repository, '.git/info/exclude'), '*\n');
    write(site.worktree, 'anything', 'excluded');
    expect(await snapshot(site)).toEqual({ kind: 'nothing_to_save' });
  });

  test('nested repositories, which it names', async () => {
    const site = newSite(area, FILES);
    for (const name of ['nested', 'nested-empty']) {
      mkdirSync(path.join(site.worktree, name));
      git(path.join(site.worktree, name), 'init', '--quiet');
    }
    write(site.worktree, 'nested/x', 'theirs');
    git(path.join(site.worktree, 'nested'), 'add', 'x');
    git(path.join(site.worktree, 'nested'), 'commit', '--quiet', '--message=x');
    write(site.worktree, 'own', 'ours');
    const rescue = await saved(site);
    expect(await site.rescues.changes(rescue)).toEqual([{ path: 'own', change: 'added' }]);
    expect(git(site.repository, 'log', '-1', '--format=%B', rescue.commit)).toContain('"nested-empty"');
  });

  test.runIf(process.platform !== 'win32')('pipes', async () => {
    const site = newSite(area, FILES);
    const makePipe = 'mkfifo';
    execFileSync(makePipe, [path.join(site.worktree, 'pipe')]);
    expect(await snapshot(site)).toEqual({ kind: 'nothing_to_save' });
  });
});

describe('a rescue that fails', () => {
  /** What it throws; there is no rescue then. */
  async function failure(site: Site): Promise<string> {
    const thrown = await Promise.resolve()
      .then(() => snapshot(site))
      .then(() => 'nothing was thrown', String);
    expect(await site.rescues.list()).toEqual([]);
    return thrown;
  }

  test.skipIf(process.getuid?.() === 0)('throws when a file cannot be read', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'secret', 'x');
    chmodSync(path.join(site.worktree, 'secret'), 0);
    expect(await failure(site)).toMatch(/[Pp]ermission denied/);
  });

  test('throws for a name that git cannot keep', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'sub/.GIT/hooks/x', 'x');
    expect(await failure(site)).toMatch(/\.GIT/);
  });

  test('throws when a ref of that folder cannot be written', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'edit\n');
    git(site.repository, 'update-ref', `refs/copse/rescue/${task}`, 'HEAD');
    expect(await failure(site)).toMatch(/update-ref/);
  });

  test('throws when objects cannot be written', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'edit\n');
    const objects = path.join(site.repository, '.git/objects');
    renameSync(objects, `${objects}.away`);
    writeFileSync(objects, 'a file where the folder was');
    await expect(async () => snapshot(site)).rejects.toThrow(/git .* ended with/);
  });

  test('throws for a worktree whose .git names another one', async () => {
    const site = newSite(area, FILES);
    const other = newSite(area, FILES);
    writeFileSync(path.join(site.worktree, '.git'), readFileSync(path.join(other.worktree, '.git')));
    expect(await failure(site)).toMatch(/not a worktree of this repository/);
    const sibling = `${site.worktree} sibling`;
    git(site.repository, 'worktree', 'add', '--quiet', '--detach', sibling);
    writeFileSync(path.join(site.worktree, '.git'), readFileSync(path.join(sibling, '.git')));
    expect(await failure(site)).toMatch(/belongs to/);
  });

  test('throws when the index names content that is missing', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'staged\n');
    git(site.worktree, 'add', 'a.txt');
    const blob = git(site.worktree, 'rev-parse', ':a.txt');
    rmSync(path.join(site.repository, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    write(site.worktree, 'a.txt', 'edited\n');
    expect(await failure(site)).toMatch(/invalid object/);
  });

  test('does not happen for a damaged or missing index, which only costs time', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'edit\n');
    const index = `${git(site.worktree, 'rev-parse', '--absolute-git-dir')}/index`;
    writeFileSync(index, readFileSync(index).subarray(0, 60));
    const changes = [{ path: 'a.txt', change: 'changed' }];
    expect(await site.rescues.changes(await saved(site))).toEqual(changes);
    rmSync(index);
    expect(await site.rescues.changes(await saved(site))).toEqual(changes);
  });
});

describe('finding rescues', () => {
  test('they are listed by age, and found by their ref', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', '1');
    const first = await saved(site);
    write(site.worktree, 'a.txt', '2');
    const second = await saved(site);
    expect(await site.rescues.list(task)).toEqual([first, second]);
    expect(await site.rescues.find(second.ref)).toEqual(second);
    expect(await site.rescues.find('refs/heads/work')).toBeUndefined();
    expect(first).toMatchObject({ task, why: 'removal', branch: 'work', changed: 1 });
    expect(first.ref).toMatch(/^refs\/copse\/rescue\/cp-w0rk\/20260102T03040\d{4}Z-removal$/);
  });

  test('two within one millisecond are two, unless nothing changed in between', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', '1');
    const first = await saved(site);
    const { at, why } = first;
    const again = () =>
      Promise.all([1, 2].map(() => site.rescues.snapshot({ task, worktree: site.worktree, why, at })));
    const same = { kind: 'saved', rescue: first };
    expect(await again()).toEqual([same, same]);
    expect(await site.rescues.list()).toHaveLength(1);
    write(site.worktree, 'a.txt', '2');
    const [one, other] = await again();
    expect(one).toMatchObject({ kind: 'saved', rescue: { ref: `${first.ref}-2` } });
    expect(other).toEqual(one);
    expect(await site.rescues.list()).toHaveLength(2);
  });

  test('refs that Copse did not make there are not rescues, and do no harm', async () => {
    const site = newSite(area, FILES);
    git(site.repository, 'update-ref', 'refs/copse/rescue/cp-w0rk/whatever', 'HEAD');
    git(
      site.repository,
      'update-ref',
      'refs/copse/rescue/cp-w0rk/20260102T030405678Z-removal',
      'HEAD^{tree}',
    );
    expect(await site.rescues.list()).toEqual([]);
  });

  test('the main checkout can be rescued too', async () => {
    const repository = newRepository(area);
    write(repository, 'a.txt', 'one\n');
    git(repository, 'add', '--all');
    git(repository, 'commit', '--quiet', '--message=a');
    const site = siteAt(repository);
    write(repository, 'a.txt', 'escaped\n');
    const rescue = await saved({ ...site, worktree: repository });
    expect(await site.rescues.changes(rescue)).toEqual([{ path: 'a.txt', change: 'changed' }]);
    await comesBack(site, rescue);
    expect(readFileSync(path.join(site.worktree, 'a.txt'), 'utf8')).toBe('escaped\n');
    expect(statSync(path.join(repository, 'a.txt')).isFile()).toBe(true);
  });
});
