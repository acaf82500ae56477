/** A rescue never comes back over anything newer, and never outside the worktree. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Rescue } from '../../../packages/copse/src/git/port.ts';
import { git, newArea } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import {
  type Site,
  comesBack,
  makeAnew,
  manifest,
  newSite,
  saved,
  snapshot,
  write,
} from '../../support/workspaces/rescues.ts';

const area = newArea();
const FILES = { 'a.txt': 'one\n', 'b/c.txt': 'two\n', 'folder/inner.txt': 'three\n' };

/** What stopped a restore, which then has written nothing. */
async function inTheWay(site: Site, rescue: Promise<Rescue>): Promise<readonly string[]> {
  const before = manifest(site.worktree);
  const outcome = await site.rescues.restore(await rescue, site.worktree);
  expect(manifest(site.worktree)).toEqual(before);
  return outcome.kind === 'restored' ? [] : outcome.inTheWay;
}

/** A rescue of these contents, and the worktree made anew. */
async function rescued(files: Readonly<Record<string, string>>): Promise<{
  readonly site: Site;
  readonly rescue: Promise<Rescue>;
}> {
  const site = newSite(area, FILES);
  for (const [name, content] of Object.entries(files)) write(site.worktree, name, content);
  const rescue = await saved(site);
  makeAnew(site);
  return { site, rescue: Promise.resolve(rescue) };
}

// promise: restore-overwrites-nothing
describe('files that block it', () => {
  test('an edit of a file that the rescue changed', async () => {
    const { site, rescue } = await rescued({ 'a.txt': 'saved\n', new: 'saved\n' });
    write(site.worktree, 'a.txt', 'newer\n');
    expect(await inTheWay(site, rescue)).toEqual(['a.txt']);
  });

  test('an untracked file where the rescue has one', async () => {
    const { site, rescue } = await rescued({ new: 'saved\n', 'a.txt': 'saved\n' });
    write(site.worktree, 'new', 'newer\n');
    expect(await inTheWay(site, rescue)).toEqual(['new']);
  });

  test('a staged edit of a file that the rescue had staged', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'saved\n');
    git(site.worktree, 'add', 'a.txt');
    write(site.worktree, 'a.txt', FILES['a.txt']);
    const rescue = saved(site);
    await rescue;
    makeAnew(site);
    write(site.worktree, 'a.txt', 'newer\n');
    git(site.worktree, 'add', 'a.txt');
    write(site.worktree, 'a.txt', FILES['a.txt']);
    expect(await inTheWay(site, rescue)).toEqual(['a.txt']);
    expect(git(site.worktree, 'show', ':a.txt')).toBe('newer');
  });

  test('a newer commit that changed the same file', async () => {
    const { site, rescue } = await rescued({ 'a.txt': 'saved\n' });
    write(site.worktree, 'a.txt', 'committed since\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=since');
    expect(await inTheWay(site, rescue)).toEqual(['a.txt']);
  });

  test('an ignored file, unless it is the same', async () => {
    const { site, rescue } = await rescued({ 'cache/x': 'saved\n' });
    writeFileSync(path.join(site.repository, '.git/info/exclude'), '/cache\n');
    write(site.worktree, 'cache/x', 'ignored and newer\n');
    expect(await inTheWay(site, rescue)).toEqual(['cache/x']);
    write(site.worktree, 'cache/x', 'saved\n');
    await comesBack(site, await rescue);
  });

  test('ignored files in a folder where the rescue has a file', async () => {
    const { site, rescue } = await rescued({ cache: 'a file\n' });
    writeFileSync(path.join(site.repository, '.git/info/exclude'), '/cache/*\n');
    write(site.worktree, 'cache/x', 'ignored\n');
    expect(await inTheWay(site, rescue)).toEqual(['cache/x']);
  });

  test('untracked files in a folder where the rescue has a file', async () => {
    const { site, rescue } = await rescued({ thing: 'a file\n' });
    write(site.worktree, 'thing/x', 'untracked\n');
    expect(await inTheWay(site, rescue)).toEqual(['thing/x']);
  });

  test.each(['visible', 'ignored'])('a %s link where the rescue has a folder', async (kind) => {
    const { site, rescue } = await rescued({ 'linked/x': 'saved\n', 'folder/more.txt': 'saved\n' });
    if (kind === 'ignored')
      writeFileSync(path.join(site.repository, '.git/info/exclude'), 'linked\nfolder\n');
    const outside = path.join(site.repository, '.git', 'outside');
    mkdirSync(outside);
    symlinkSync(outside, path.join(site.worktree, 'linked'));
    rmSync(path.join(site.worktree, 'folder'), { recursive: true });
    symlinkSync(outside, path.join(site.worktree, 'folder'));
    const outcome = await site.rescues.restore(await rescue, site.worktree);
    expect(outcome).toMatchObject({ kind: 'in_the_way' });
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('files that do not block it', () => {
  test('changes elsewhere', async () => {
    const { site, rescue } = await rescued({ 'a.txt': 'saved\n' });
    write(site.worktree, 'b/c.txt', 'mine\n');
    write(site.worktree, 'other', 'mine\n');
    git(site.worktree, 'add', 'other');
    await comesBack(site, await rescue);
    expect(git(site.worktree, 'status', '--porcelain')).toBe(' M a.txt\n M b/c.txt\nA  other');
  });

  test('commits elsewhere', async () => {
    const { site, rescue } = await rescued({ 'a.txt': 'saved\n' });
    write(site.worktree, 'b/c.txt', 'since\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=since');
    await comesBack(site, await rescue);
    expect(git(site.worktree, 'status', '--porcelain')).toBe(' M a.txt');
  });

  test('the same content: restoring may be repeated', async () => {
    const { site, rescue } = await rescued({ 'a.txt': 'saved\n', new: 'saved\n' });
    await comesBack(site, await rescue);
    const before = manifest(site.worktree);
    expect(await site.rescues.restore(await rescue, site.worktree)).toEqual({ kind: 'restored', files: 0 });
    expect(manifest(site.worktree)).toEqual(before);
  });

  test('line endings that git itself converts', async () => {
    const site = newSite(area, { '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': 'one\ntwo\n' });
    write(site.worktree, 'a.txt', 'one\ntwo\nmixed\r\n');
    const rescue = await saved(site);
    makeAnew(site);
    expect(readFileSync(path.join(site.worktree, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n');
    await comesBack(site, rescue);
    expect(readFileSync(path.join(site.worktree, 'a.txt'), 'utf8')).toBe('one\ntwo\nmixed\r\n');
  });

  test('a lock that git left is reported and nothing is written', async () => {
    const { site, rescue } = await rescued({ 'a.txt': 'saved\n' });
    writeFileSync(`${git(site.worktree, 'rev-parse', '--absolute-git-dir')}/index.lock`, '');
    const from = await rescue;
    await expect(async () => site.rescues.restore(from, site.worktree)).rejects.toThrow(/index\.lock exists/);
    expect(readFileSync(path.join(site.worktree, 'a.txt'), 'utf8')).toBe('one\n');
  });
});

// promise: rescue-exact
test('any tree with any edits is restored exactly', async () => {
  const name = fc.constantFrom('a', 'b', 'A', 'ü', '-x', 'with space', '"q"', 'new\nline', 'é.txt');
  const file = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const content = fc.oneof(fc.string(), fc.constantFrom('', 'same', 'x\r\ny\n', '\0', '$Id$'));
  const edit = fc.record({
    file,
    content,
    kind: fc.constantFrom('write', 'write', 'program', 'link', 'remove', 'stage', 'hide'),
  });
  const site = newSite(area);
  await fc.assert(
    fc.asyncProperty(
      fc.array(edit, { maxLength: 8 }),
      fc.array(edit, { maxLength: 12 }),
      async (first, then) => {
        git(site.worktree, 'checkout', '--quiet', '--force', '-B', 'work', 'main');
        git(site.worktree, 'clean', '--quiet', '--force', '-d', '-x');
        for (const each of first) apply(site, each);
        git(site.worktree, 'add', '--all');
        git(site.worktree, 'commit', '--quiet', '--allow-empty', '--message=base');
        for (const each of then) apply(site, each);
        const before = { files: manifest(site.worktree), staged: git(site.worktree, 'ls-files', '--stage') };
        const outcome = await snapshot(site);
        makeAnew(site);
        if (outcome.kind === 'saved') await comesBack(site, outcome.rescue);
        const after = { files: manifest(site.worktree), staged: git(site.worktree, 'ls-files', '--stage') };
        expect(after).toEqual(before);
      },
    ),
    { numRuns: often({ short: 10, long: 20 }) },
  );
});

interface Edit {
  readonly file: string;
  readonly content: string;
  readonly kind: string;
}

/** Whatever stands where the file goes makes room. */
function apply({ worktree }: Site, { file, content, kind }: Edit): void {
  const at = path.join(worktree, file);
  if (kind === 'stage') return void git(worktree, 'add', '--all');
  if (kind === 'hide') {
    const tracked = git(worktree, 'ls-files', '-z').split('\0').filter(Boolean).slice(0, 2);
    if (tracked.length > 0) git(worktree, 'update-index', '--assume-unchanged', '--', ...tracked);
    return;
  }
  makeRoom(worktree, file);
  if (kind === 'remove') return;
  mkdirSync(path.dirname(at), { recursive: true });
  if (kind === 'link') return symlinkSync(content.replaceAll('\0', '') || 'nowhere', at);
  writeFileSync(at, content);
  chmodSync(at, kind === 'program' ? 0o755 : 0o644);
}

function makeRoom(worktree: string, file: string): void {
  const parts = file.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const parent = path.join(worktree, ...parts.slice(0, depth));
    if (!existsSync(`${parent}/.`)) rmSync(parent, { force: true });
    else if (!isFolder(worktree, parts.slice(0, depth))) rmSync(parent);
  }
  rmSync(path.join(worktree, file), { recursive: true, force: true });
}

function isFolder(worktree: string, parts: readonly string[]): boolean {
  const parent = path.join(worktree, ...parts.slice(0, -1));
  return readdirSync(parent, { withFileTypes: true }).some(
    (entry) => entry.name === parts.at(-1) && entry.isDirectory(),
  );
}
