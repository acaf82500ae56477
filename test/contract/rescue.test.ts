/** What a rescue saves and how it comes back, with real git. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { git, newArea, newRepository } from '../support/cli.ts';
import {
  type Site,
  comesBack,
  everyByte,
  makeAnew,
  manifest,
  newSite,
  saved,
  siteAt,
  snapshot,
  task,
  write,
} from '../support/rescues.ts';

const area = newArea();

/** A worktree before it was rescued, and after it was removed, made anew and restored. */
async function roundTrip(site: Site): Promise<{ readonly before: unknown; readonly after: unknown }> {
  const before = { files: manifest(site.worktree), status: status(site) };
  const rescue = await saved(site);
  makeAnew(site);
  await comesBack(site, rescue);
  return { before, after: { files: manifest(site.worktree), status: status(site) } };
}

/** Every object that the newest rescue keeps from being collected. */
async function kept({ rescues, repository }: Site): Promise<readonly string[]> {
  const rescue = (await rescues.list()).at(-1);
  const lines = git(repository, 'rev-list', '--objects', rescue?.commit ?? '').split('\n');
  return lines.map((line) => line.split(' ')[0] ?? '');
}

function status({ worktree }: Site): string {
  return git(worktree, 'status', '--porcelain=v2', '--untracked-files=all');
}

const FILES = {
  'a.txt': 'one\n',
  'b/c.txt': 'two\n',
  'b/d.txt': 'three\n',
  'folder/inner.txt': 'four\n',
  'gone.txt': 'five\n',
  'run.sh': '#!/bin/sh\n',
};

describe('what comes back', () => {
  test('every kind of change, byte for byte', async () => {
    const site = newSite(area, FILES);
    const at = (name: string): string => path.join(site.worktree, name);
    write(site.worktree, 'a.txt', 'changed\r\nmixed\n\0binary');
    rmSync(at('gone.txt'));
    chmodSync(at('run.sh'), 0o755);
    rmSync(at('folder'), { recursive: true });
    writeFileSync(at('folder'), 'a file where a folder was');
    rmSync(at('b/c.txt'));
    write(site.worktree, 'b/c.txt/deep.txt', 'a folder where a file was');
    write(site.worktree, 'empty', '');
    write(site.worktree, '-dash', 'x');
    write(site.worktree, 'A.txt', 'differs in case');
    write(site.worktree, 'new\nline "quoted" \'und\' ünï 林.txt', 'y');
    write(site.worktree, 'git~1', 'a name that Windows would read differently');
    writeFileSync(Buffer.concat([Buffer.from(`${site.worktree}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'z');
    write(site.worktree, 'big.bin', Buffer.alloc(3_000_000, 'random-ish'));
    symlinkSync('nowhere/at/all', at('dangling'));
    symlinkSync('/etc', at('outside'));
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
  });

  test('what is staged stays staged, and what is not stays that way', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'staged\n');
    write(site.worktree, 'staged-new', 'staged\n');
    git(site.worktree, 'add', 'a.txt', 'staged-new');
    write(site.worktree, 'a.txt', 'changed again\n');
    rmSync(path.join(site.worktree, 'staged-new'));
    git(site.worktree, 'rm', '--quiet', '--cached', 'gone.txt');
    write(site.worktree, 'intended', 'content\n');
    git(site.worktree, 'add', '--intent-to-add', 'intended');
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
    expect(git(site.worktree, 'show', ':a.txt')).toBe('staged');
    expect(git(site.worktree, 'show', ':staged-new')).toBe('staged');
  });

  test('content that is only in the index is saved even when the files are as committed', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'only staged\n');
    git(site.worktree, 'add', 'a.txt');
    write(site.worktree, 'a.txt', FILES['a.txt']);
    const blob = git(site.worktree, 'rev-parse', ':a.txt');
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
    expect(git(site.worktree, 'show', ':a.txt')).toBe('only staged');
    expect(await kept(site)).toContain(blob);
  });

  test.each(['--assume-unchanged', '--skip-worktree'])('edits behind %s', async (bit) => {
    const site = newSite(area, FILES);
    git(site.worktree, 'update-index', bit, 'a.txt', 'b/d.txt');
    write(site.worktree, 'a.txt', 'hidden edit\n');
    const before = manifest(site.worktree);
    const rescue = await saved(site);
    expect(await site.rescues.changes(rescue)).toEqual([{ path: 'a.txt', change: 'changed' }]);
    makeAnew(site);
    await comesBack(site, rescue);
    expect(manifest(site.worktree)).toEqual(before);
  });

  test('files that a sparse checkout leaves out are not taken for deleted', async () => {
    const site = newSite(area, FILES);
    git(site.worktree, 'sparse-checkout', 'set', '--sparse-index', 'b');
    expect(existsSync(path.join(site.worktree, 'folder/inner.txt'))).toBe(false);
    expect(await snapshot(site)).toEqual({ saved: false });
    write(site.worktree, 'b/d.txt', 'edit\n');
    expect(await site.rescues.changes(await saved(site))).toEqual([{ path: 'b/d.txt', change: 'changed' }]);
  });

  test('with a split index, and with an index of version 4', async () => {
    const site = newSite(area, FILES);
    git(site.worktree, 'update-index', '--index-version=4');
    git(site.worktree, 'update-index', '--split-index');
    write(site.worktree, 'a.txt', 'staged\n');
    git(site.worktree, 'add', 'a.txt');
    write(site.worktree, 'a.txt', 'edited\n');
    const rescue = await saved(site);
    makeAnew(site);
    await comesBack(site, rescue);
    expect(git(site.worktree, 'show', ':a.txt')).toBe('staged');
    expect(readFileSync(path.join(site.worktree, 'a.txt'), 'utf8')).toBe('edited\n');
  });

  test('edits that a file system monitor did not report', async () => {
    const site = newSite(area, FILES);
    const hook = path.join(site.repository, 'monitor');
    writeFileSync(hook, '#!/bin/sh\nprintf "token\\0"\n', { mode: 0o755 });
    const monitored = ['-c', `core.fsmonitor='${hook}'`];
    git(site.worktree, ...monitored, 'update-index', '--fsmonitor');
    git(site.worktree, ...monitored, 'status');
    write(site.worktree, 'a.txt', 'unreported edit\n');
    expect(git(site.worktree, ...monitored, 'status', '--porcelain')).toBe('');
    expect(await site.rescues.changes(await saved(site))).toEqual([{ path: 'a.txt', change: 'changed' }]);
  });

  test('an edit of the same size in the second in which the index was written', async () => {
    const site = newSite(area, FILES);
    const file = path.join(site.worktree, 'a.txt');
    const when = Math.floor(Date.now() / 1000) - 100;
    // The inode stays and the change time is ignored, as on file systems that have none.
    git(site.worktree, 'config', 'core.trustctime', 'false');
    utimesSync(file, when, when);
    git(site.worktree, '-c', 'core.trustctime=false', 'update-index', '--refresh');
    utimesSync(git(site.worktree, 'rev-parse', '--absolute-git-dir') + '/index', when, when);
    writeFileSync(file, 'ONE\n');
    utimesSync(file, when, when);
    expect(await site.rescues.changes(await saved(site))).toEqual([{ path: 'a.txt', change: 'changed' }]);
  });

  test('hundreds of files at once, touched, changed and new', async () => {
    const names = Array.from({ length: 400 }, (_, at) => `many/${at % 7}/${at}`);
    const site = newSite(area, Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    names.forEach((name, at) => {
      if (at % 2 === 0) write(site.worktree, name, `${name} changed\n`);
      else utimesSync(path.join(site.worktree, name), 1_000_000, 1_000_000);
      if (at % 3 === 0) write(site.worktree, `${name}.new`, 'x'.repeat(at));
    });
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
  });

  test('whatever status.showUntrackedFiles says', async () => {
    const site = newSite(area, FILES);
    git(site.repository, 'config', 'status.showUntrackedFiles', 'no');
    write(site.worktree, 'untracked', 'x');
    expect(await site.rescues.changes(await saved(site))).toEqual([{ path: 'untracked', change: 'added' }]);
  });

  test('whatever attributes say about line endings, filters and encodings', async () => {
    const attributes =
      '*.crlf text eol=crlf\n*.evil filter=evil\n*.ident ident\n*.wide working-tree-encoding=UTF-16LE\n* text=auto\n';
    const site = newSite(area, { '.gitattributes': attributes, 'a.crlf': 'one\ntwo\n', 'c.ident': '$Id$\n' });
    const ran = path.join(site.repository, 'ran');
    for (const side of ['clean', 'smudge'])
      git(site.repository, 'config', `filter.evil.${side}`, `touch '${ran.replaceAll("'", "'\\''")}'; cat`);
    write(site.worktree, 'a.crlf', 'mixed\r\nendings\n');
    write(site.worktree, 'b.evil', 'untouched\n');
    write(site.worktree, 'c.ident', '$Id: something else $\r\n');
    write(site.worktree, 'd.wide', 'not utf-16 at all');
    const before = manifest(site.worktree);
    const rescue = await saved(site);
    expect(existsSync(ran)).toBe(false);
    makeAnew(site);
    await comesBack(site, rescue);
    expect(existsSync(ran)).toBe(false);
    expect(manifest(site.worktree)).toEqual(before);
  });

  test('in a SHA-256 repository', async () => {
    const repository = path.join(area, 'sha 256');
    mkdirSync(repository);
    git(repository, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
    write(repository, 'a.txt', 'one\n');
    git(repository, 'add', '--all');
    git(repository, 'commit', '--quiet', '--message=first');
    const site = siteAt(repository);
    write(site.worktree, 'a.txt', 'two\n');
    write(site.worktree, 'new', 'three\n');
    rmSync(path.join(site.worktree, 'a.txt'));
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
  });

  test('in a shallow clone', async () => {
    const origin = newSite(area, FILES).repository;
    const clone = path.join(area, 'shallow clone');
    git(area, 'clone', '--quiet', '--depth=1', `file://${origin}`, clone);
    const site = siteAt(clone);
    write(site.worktree, 'a.txt', 'edit\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=lost');
    git(site.worktree, 'reset', '--quiet', '--hard', 'HEAD~1');
    write(site.worktree, 'a.txt', 'another edit\n');
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
  });

  test('on a branch without a commit', async () => {
    const site = newSite(area, FILES);
    git(site.worktree, 'checkout', '--quiet', '--orphan', 'unborn');
    const rescue = await saved(site);
    expect(rescue).toMatchObject({ branch: 'unborn', head: null, changed: Object.keys(FILES).length });
  });
});

describe('commits that only the worktree knows', () => {
  test('survive reset, amend and a detached HEAD', async () => {
    const site = newSite(area, FILES);
    const lost: string[] = [];
    const commit = (text: string, ...more: readonly string[]): void => {
      write(site.worktree, 'a.txt', text);
      git(site.worktree, 'commit', '--quiet', '--all', `--message=${text}`, ...more);
      lost.push(git(site.worktree, 'rev-parse', 'HEAD'));
    };
    commit('reset away');
    git(site.worktree, 'reset', '--quiet', '--hard', 'HEAD~1');
    commit('amended');
    commit('amended again', '--amend');
    git(site.worktree, 'checkout', '--quiet', '--detach');
    commit('detached');
    git(site.worktree, 'checkout', '--quiet', 'work');
    const rescue = await saved(site);
    expect(rescue.changed).toBe(0);
    const kept = git(site.repository, 'rev-list', rescue.commit).split('\n');
    for (const id of lost) expect(kept).toContain(id);
    expect(await snapshot(site)).toMatchObject({ saved: true });
  });

  test('however many there are', async () => {
    const site = newSite(area, FILES);
    const base = git(site.worktree, 'rev-parse', 'HEAD');
    const tree = git(site.worktree, 'rev-parse', 'HEAD^{tree}');
    const lost = Array.from({ length: 150 }, (_, at) =>
      git(site.worktree, 'commit-tree', tree, '-p', base, '-m', `lost ${at}`),
    );
    const log = `${git(site.worktree, 'rev-parse', '--absolute-git-dir')}/logs/HEAD`;
    const lines = lost.map((id) => `${base} ${id} A <a@b> 1700000000 +0000\tcommit: lost\n`);
    writeFileSync(log, lines.join(''), { flag: 'a' });
    const rescue = await saved(site);
    const kept = new Set(git(site.repository, 'rev-list', rescue.commit).split('\n'));
    expect(lost.filter((id) => !kept.has(id))).toEqual([]);
  });

  test('a detached HEAD comes back detached where it was, and branches stay', async () => {
    const site = newSite(area, FILES);
    git(site.worktree, 'checkout', '--quiet', '--detach');
    write(site.worktree, 'a.txt', 'detached\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=detached');
    const head = git(site.worktree, 'rev-parse', 'HEAD');
    const branch = git(site.repository, 'rev-parse', 'work');
    write(site.worktree, 'b/d.txt', 'edit\n');
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
    expect(git(site.worktree, 'rev-parse', 'HEAD')).toBe(head);
    expect(() => git(site.worktree, 'symbolic-ref', 'HEAD')).toThrow(/not a symbolic ref/);
    expect(git(site.repository, 'rev-parse', 'work')).toBe(branch);
  });
});

describe('operations in progress', () => {
  function conflicting(): Site {
    const site = newSite(area, FILES);
    write(site.repository, 'a.txt', 'theirs\n');
    git(site.repository, 'commit', '--quiet', '--all', '--message=theirs');
    write(site.worktree, 'b/c.txt', 'first of two\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=clean');
    write(site.worktree, 'a.txt', 'ours\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=ours');
    return site;
  }

  test('a conflicted merge can be finished after it came back', async () => {
    const site = conflicting();
    expect(() => git(site.worktree, 'merge', '--quiet', 'main')).toThrow(/Command failed/);
    write(site.worktree, 'notes', 'untracked\n');
    // The index alone has this one.
    write(site.worktree, 'only-staged', 'a third opinion\n');
    const theirs = git(site.worktree, 'hash-object', '-w', 'only-staged');
    rmSync(path.join(site.worktree, 'only-staged'));
    execFileSync('git', ['update-index', '--index-info'], {
      cwd: site.worktree,
      input: `100644 ${theirs} 3\ta.txt\n`,
    });
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
    expect(git(site.worktree, 'ls-files', '--unmerged').split('\n')).toHaveLength(3);
    expect(await kept(site)).toContain(theirs);
    write(site.worktree, 'a.txt', 'both\n');
    git(site.worktree, 'add', 'a.txt');
    git(site.worktree, 'commit', '--quiet', '--no-edit');
    expect(git(site.worktree, 'rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(3);
  });

  test('a conflicted rebase can be continued after it came back', async () => {
    const site = conflicting();
    expect(() => git(site.worktree, 'rebase', '--quiet', 'main')).toThrow(/Command failed/);
    const { before, after } = await roundTrip(site);
    expect(after).toEqual(before);
    write(site.worktree, 'a.txt', 'both\n');
    git(site.worktree, 'add', 'a.txt');
    git(site.worktree, '-c', 'core.editor=true', 'rebase', '--continue');
    expect(git(site.worktree, 'log', '--format=%s', 'main..work')).toBe('ours\nclean');
    expect(git(site.worktree, 'symbolic-ref', '--short', 'HEAD')).toBe('work');
  });
});

describe('what a rescue leaves alone', () => {
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

  test('a worktree in which nothing would be lost gets no rescue', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'committed\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=kept by its branch');
    const before = everyByte(site);
    expect(await snapshot(site)).toEqual({ saved: false });
    expect(await site.rescues.list()).toEqual([]);
    expect(everyByte(site)).toEqual(before);
  });

  test('ignored files are not in it', async () => {
    const site = newSite(area, { '.gitignore': 'node_modules\n' });
    write(site.worktree, 'node_modules/x', 'ignored');
    expect(await snapshot(site)).toEqual({ saved: false });
    writeFileSync(path.join(site.repository, '.git/info/exclude'), '*\n');
    write(site.worktree, 'anything', 'excluded');
    expect(await snapshot(site)).toEqual({ saved: false });
  });

  test('nested repositories are named, not recorded', async () => {
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

  test.runIf(process.platform !== 'win32')('pipes are passed over', async () => {
    const site = newSite(area, FILES);
    const makePipe = 'mkfifo';
    execFileSync(makePipe, [path.join(site.worktree, 'pipe')]);
    expect(await snapshot(site)).toEqual({ saved: false });
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

  test('throws for a worktree whose .git leads to another one', async () => {
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

  test('a damaged or missing index costs time, not files', async () => {
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

  test('two within one millisecond are two', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', '1');
    const at = (await saved(site)).at;
    const again = await Promise.all(
      [1, 2].map(() => site.rescues.snapshot({ task, worktree: site.worktree, why: 'removal', at })),
    );
    expect(again.every((outcome) => outcome.saved)).toBe(true);
    expect(await site.rescues.list()).toHaveLength(3);
  });

  test('refs that somebody else made there are no rescues, and do no harm', async () => {
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
