/** What a rescue saves and how it comes back, with real git. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import {
  FILES,
  type Site,
  comesBack,
  makeAnew,
  manifest,
  newSite,
  saved,
  siteAt,
  snapshot,
  write,
} from '../../support/workspaces/rescues.ts';

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

describe('a restored rescue has', () => {
  // promise: rescue-exact
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

  // promise: rescue-exact
  test('staged changes stay staged, and unstaged ones unstaged', async () => {
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

  // promise: rescue-exact
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

  test('files that a sparse checkout leaves out, which do not count as deleted', async () => {
    const site = newSite(area, FILES);
    git(site.worktree, 'sparse-checkout', 'set', '--sparse-index', 'b');
    expect(existsSync(path.join(site.worktree, 'folder/inner.txt'))).toBe(false);
    expect(await snapshot(site)).toEqual({ kind: 'nothing_to_save' });
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

  test('untracked files with any status.showUntrackedFiles', async () => {
    const site = newSite(area, FILES);
    git(site.repository, 'config', 'status.showUntrackedFiles', 'no');
    write(site.worktree, 'untracked', 'x');
    expect(await site.rescues.changes(await saved(site))).toEqual([{ path: 'untracked', change: 'added' }]);
  });

  test('exact bytes with any attributes for line endings, filters and encodings', async () => {
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
  // promise: commits-reachable
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
    expect(await snapshot(site)).toMatchObject({ kind: 'saved' });
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

  // promise: rescue-exact
  test('a conflicted merge can be finished after a restore', async () => {
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

  // promise: rescue-exact
  test('a conflicted rebase can be continued after a restore', async () => {
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
