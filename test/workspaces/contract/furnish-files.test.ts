import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { finished, git, newArea } from '../../support/cli.ts';
import { newFixture, write } from '../../support/workspaces/furnishing.ts';

const area = newArea();

const read = (...parts: readonly string[]) => readFileSync(path.join(...parts), 'utf8');
const why = (skipped: readonly { readonly path: string; readonly why: string }[]) =>
  Object.fromEntries(skipped.map((one) => [one.path, one.why]));

describe('files named by .worktreeinclude', () => {
  test('are brought when git ignores them, and only then', async () => {
    const { worktree, furnish } = newFixture(area, {
      tracked: {
        '.gitignore': '.env*\n/config/\n',
        '.worktreeinclude': '# secrets\n.env*\n!.env.example\nconfig/local.json\nnotes.txt\ntracked.txt\n',
        'tracked.txt': 'committed',
      },
      others: {
        '.env': 'A=1',
        '.env.example': 'A=',
        'packages/web/.env.local': 'B=2',
        'config/local.json': '{}',
        'config/other.json': '{}',
        'notes.txt': 'untracked, not ignored',
        'tracked.txt': 'edited by a person',
      },
    });
    const report = await furnish();
    expect(report.brought.map((one) => one.path)).toEqual([
      '.env',
      'config/local.json',
      'packages/web/.env.local',
    ]);
    expect(read(worktree, '.env')).toBe('A=1');
    expect(read(worktree, 'packages/web/.env.local')).toBe('B=2');
    expect(read(worktree, 'tracked.txt')).toBe('committed');
    for (const name of ['.env.example', 'config/other.json', 'notes.txt'])
      expect(existsSync(path.join(worktree, name))).toBe(false);
    expect(git(worktree, 'status', '--porcelain')).toBe('');
  });

  test('are the only ones brought from a folder in which git ignores others too, and empty folders are not brought', async () => {
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '*.env\n*.log\n', '.worktreeinclude': '*.env\n' },
      others: { 'p/one/a.env': '1', 'p/one/a.log': '1', 'q/b.env': '2', 'q/plain': '2' },
    });
    mkdirSync(path.join(root, 'empty/one'), { recursive: true });
    const report = await furnish();
    expect(report.brought.map((one) => one.path)).toEqual(['p/one/a.env', 'q/b.env']);
    expect(report.skipped).toEqual([]);
    expect(existsSync(path.join(worktree, 'p/one/a.log'))).toBe(false);
  });

  test('are found below folders that are ignored as a whole', async () => {
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'vendor/\n', '.worktreeinclude': '**/key.pem\n' },
      others: { 'vendor/a/key.pem': 'k', 'vendor/a/big.bin': 'b' },
    });
    await furnish();
    expect(readdirSync(path.join(worktree, 'vendor/a'))).toEqual(['key.pem']);
  });

  test('outside the repository are refused with a sentence', async () => {
    writeFileSync(path.join(area, 'outside.env'), 'secret');
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '*.env\n', '.worktreeinclude': '../outside.env\n../*.env\n' },
    });
    const { brought, skipped } = await furnish({
      copy: [
        '../outside.env',
        path.join(area, 'outside.env'),
        'a/../../outside.env',
        '.git/config',
        '.',
        '.copse/board.db',
      ],
    });
    expect(brought).toEqual([]);
    expect(skipped.map((one) => one.why)).toEqual([
      '.worktreeinclude cannot name paths outside the repository.',
      '.worktreeinclude cannot name paths outside the repository.',
      'workspace.copy cannot name paths outside the repository.',
      'workspace.copy takes paths relative to the repository root.',
      'workspace.copy cannot name paths outside the repository.',
      'workspace.copy cannot name the folders of git or of Copse.',
      'workspace.copy cannot name the whole repository.',
      'workspace.copy cannot name the folders of git or of Copse.',
    ]);
    expect(existsSync(path.join(worktree, 'outside.env'))).toBe(false);
  });
});

describe('files named by workspace.copy', () => {
  test('are paths and globs from the root, and skipped entries are explained', async () => {
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '*.env\ncache/\n[x]/\n', 'src/a.ts': 'a' },
      others: {
        'a.env': '1',
        'deep/a.env': '2',
        'p/one/b.env': '3',
        'p/two/b.env': '4',
        'cache/x/y': 'y',
        '[x]/z.env': 'z',
      },
    });
    const report = await furnish({
      copy: ['a.env', './p/*/b.env', 'cache/', '[x]/z.env', 'src/a.ts', 'nowhere'],
    });
    expect(report.brought).toEqual([
      { path: '[x]/z.env', files: 1, bytes: 1 },
      { path: 'a.env', files: 1, bytes: 1 },
      { path: 'cache', files: 1, bytes: 1 },
      { path: 'p/one/b.env', files: 1, bytes: 1 },
      { path: 'p/two/b.env', files: 1, bytes: 1 },
    ]);
    expect(existsSync(path.join(worktree, 'deep'))).toBe(false);
    expect(why(report.skipped)).toEqual({
      'src/a.ts': 'Git does not ignore it in the main checkout, so it is not brought.',
      nowhere: 'It is not in the main checkout.',
    });
  });

  test('keep their modes, their names and their content, whatever the name', async () => {
    const name = 'ä "quoted" $(x)\nline 林.env';
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '*.env\n/tool\n', '.worktreeinclude': '*.env\n' },
      others: { [name]: 'v', tool: '#!/bin/sh\n', 'empty.env': '' },
    });
    chmodSync(path.join(root, 'tool'), 0o750);
    chmodSync(path.join(root, name), 0o400);
    await furnish({ copy: ['tool'] });
    expect(read(worktree, name)).toBe('v');
    expect(lstatSync(path.join(worktree, name)).mode & 0o777).toBe(0o400);
    expect(lstatSync(path.join(worktree, 'tool')).mode & 0o777).toBe(0o750);
    expect(read(worktree, 'empty.env')).toBe('');
  });

  test('may be a folder of 2,000 small files, with links between them', async () => {
    const others = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [`node_modules/p${index % 50}/f${index}.js`, `${index}`]),
    );
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'node_modules/\n', 'packages/lib/index.js': 'lib' },
      others,
    });
    mkdirSync(path.join(root, 'node_modules/.bin'));
    symlinkSync('../p1/f1.js', path.join(root, 'node_modules/.bin/one'));
    symlinkSync('../packages/lib', path.join(root, 'node_modules/lib'));
    symlinkSync(path.join(root, 'node_modules/p2'), path.join(root, 'node_modules/absolute'));
    const report = await furnish({ copy: ['node_modules'] });
    expect(report.brought).toEqual([
      { path: 'node_modules', files: 2_003, bytes: Object.values(others).join('').length },
    ]);
    expect(report.skipped).toEqual([]);
    expect(read(worktree, 'node_modules/p49/f1999.js')).toBe('1999');
    expect(read(worktree, 'node_modules/.bin/one')).toBe('1');
    // A link into the repository leads to the worktree's own files, never back to the main checkout.
    writeFileSync(path.join(worktree, 'packages/lib/index.js'), 'changed');
    expect(read(worktree, 'node_modules/lib/index.js')).toBe('changed');
    expect(path.isAbsolute(readlinkSync(path.join(worktree, 'node_modules/absolute')))).toBe(false);
    expect(read(worktree, 'node_modules/absolute/f2.js')).toBe('2');
  });

  // promise: no-link-followed
  test('bring no link that leads out of the repository, directly or through other links', async () => {
    const outside = path.join(area, 'elsewhere');
    mkdirSync(outside, { recursive: true });
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'cache/\n' },
      others: { 'cache/file': 'f' },
    });
    symlinkSync(outside, path.join(root, 'cache/absolute'));
    symlinkSync('../../../elsewhere', path.join(root, 'cache/relative'));
    symlinkSync(path.dirname(outside), path.join(root, 'cache/hop'));
    symlinkSync('hop/elsewhere', path.join(root, 'cache/roundabout'));
    symlinkSync('../.git/config', path.join(root, 'cache/configuration'));
    const report = await furnish({ copy: ['cache'] });
    expect(readdirSync(path.join(worktree, 'cache'))).toEqual(['file']);
    expect(report.skipped.map((one) => one.path).toSorted()).toEqual([
      'cache/absolute',
      'cache/configuration',
      'cache/hop',
      'cache/relative',
      'cache/roundabout',
    ]);
  });

  test('are not brought if the branch does not ignore them, because they would be committed', async () => {
    const { root, worktree, furnish } = newFixture(area, { tracked: { 'a.txt': 'a' } });
    write(root, { '.gitignore': '.env\n', '.env': 'secret' });
    const report = await furnish({ copy: ['.env'] });
    expect(existsSync(path.join(worktree, '.env'))).toBe(false);
    expect(why(report.skipped)).toEqual({
      '.env': 'Git does not ignore it on this branch, so an agent would commit it.',
    });
  });

  test('bring neither git directories nor worktrees that are in an ignored folder', async () => {
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'tmp/\n.worktrees/\n' },
      others: { 'tmp/a': 'a' },
    });
    git(root, 'worktree', 'add', '--quiet', '--detach', 'tmp/other');
    git(root, 'init', '--quiet', 'tmp/clone');
    write(root, { 'tmp/clone/b': 'b' });
    const report = await furnish({ copy: ['tmp', '.worktrees', '.worktrees/*'] });
    expect(readdirSync(path.join(worktree, 'tmp')).toSorted()).toEqual(['a', 'clone']);
    expect(readdirSync(path.join(worktree, 'tmp/clone'))).toEqual(['b']);
    expect(existsSync(path.join(worktree, '.worktrees'))).toBe(false);
    expect(why(report.skipped)).toMatchObject({
      'tmp/other': 'It is a checkout of its own.',
      'tmp/clone/.git': 'It belongs to git or to Copse.',
    });
  });
});

describe('files that the worktree already has', () => {
  // promise: no-link-followed
  test('are never overwritten, and a link there is never written through', async () => {
    const victim = path.join(area, 'victim');
    mkdirSync(victim, { recursive: true });
    writeFileSync(path.join(victim, 'env'), 'mine');
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '.env*\nconfig\n' },
      others: { '.env': 'new', '.env.b': 'new', '.env.c': 'new', 'config/deep/x': 'new' },
    });
    symlinkSync(path.join(victim, 'env'), path.join(worktree, '.env'));
    symlinkSync(path.join(victim, 'made-by-a-careless-write'), path.join(worktree, '.env.b'));
    symlinkSync(victim, path.join(worktree, 'config'));
    writeFileSync(path.join(worktree, '.env.c'), 'old');
    const report = await furnish({ copy: ['.env', '.env.b', '.env.c', 'config/deep'] });
    expect(report.brought).toEqual([]);
    expect(readdirSync(victim)).toEqual(['env']);
    expect(read(victim, 'env')).toBe('mine');
    expect(read(worktree, '.env.c')).toBe('old');
    expect(why(report.skipped)).toMatchObject({
      '.env': 'A link already exists there.',
      '.env.b': 'A link already exists there.',
      '.env.c': 'It already exists.',
    });
  });

  // promise: no-link-followed
  test('cannot redirect brought files by making .copse a link', async () => {
    const victim = path.join(area, 'victim of the folder');
    mkdirSync(victim, { recursive: true });
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '.env\n' },
      others: { '.env': 'new' },
    });
    symlinkSync(victim, path.join(worktree, '.copse'));
    const report = await furnish({ copy: ['.env'] });
    expect(readdirSync(victim)).toEqual([]);
    expect(report.notes).toEqual([
      'Copse has no folder of its own in the worktree: .copse is not a folder of the worktree.',
    ]);
  });

  test('are completed if a folder has a part of them', async () => {
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'cache/\n' },
      others: { 'cache/a': 'new', 'cache/b': 'new' },
    });
    write(worktree, { 'cache/a': 'old' });
    await furnish({ copy: ['cache'] });
    expect([read(worktree, 'cache/a'), read(worktree, 'cache/b')]).toEqual(['old', 'new']);
  });

  test('stay unchanged the second time, even if an agent removed one', async () => {
    const { worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': '.env\n' },
      others: { '.env': '1' },
    });
    await furnish({ copy: ['.env'] });
    rmSync(path.join(worktree, '.env'));
    expect(await furnish({ copy: ['.env'] })).toMatchObject({ brought: [], setup: { kind: 'done', ran: 0 } });
    expect(existsSync(path.join(worktree, '.env'))).toBe(false);
    expect(readdirSync(path.join(worktree, '.copse'))).toEqual(['shared']);
  });
});

describe('a process that is killed while it brings files', () => {
  const worker = fileURLToPath(new URL('../../support/queue/bring-worker.ts', import.meta.url));

  test('leaves all of a folder or nothing, and the next one brings it whole', async () => {
    const count = 3_000;
    const others = Object.fromEntries(Array.from({ length: count }, (_, index) => [`cache/f${index}`, 'x']));
    const { root, worktree, furnish } = newFixture(area, { tracked: { '.gitignore': 'cache/\n' }, others });
    const staged = path.join(worktree, '.copse/incoming');
    const brought = path.join(worktree, 'cache');
    let killedInTheMiddle = 0;
    for (const wanted of [100, 500, 1_500]) {
      const child = spawn(process.execPath, [worker, root, worktree, 'cache']);
      const ended = finished(child);
      // Wherever it writes them.
      while (child.exitCode === null && filesBelow(staged) + filesBelow(brought) < wanted)
        await setTimeout(1);
      child.kill('SIGKILL');
      await ended;
      if (existsSync(brought)) {
        expect(readdirSync(brought)).toHaveLength(count);
        rmSync(brought, { recursive: true });
      } else if (filesBelow(staged) >= wanted) killedInTheMiddle += 1;
    }
    expect(killedInTheMiddle).toBeGreaterThan(0);
    await furnish({ copy: ['cache'] });
    expect(readdirSync(brought)).toHaveLength(count);
    expect(readdirSync(path.join(worktree, '.copse'))).toEqual(['shared']);
  });

  function filesBelow(folder: string): number {
    return existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0;
  }
});

describe('paths of workspace.link', () => {
  test('are links to the main checkout, and git ignores them although they are no folders', async () => {
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'node_modules/\n.cache\n' },
      others: { 'node_modules/a/index.js': 'a', 'p/node_modules/b.js': 'b', '.cache': 'c' },
    });
    const report = await furnish({ link: ['node_modules', 'p/*', '.cache'], copy: ['node_modules'] });
    expect(report.linked).toEqual(['.cache', 'node_modules', 'p/node_modules']);
    expect(report.brought).toEqual([]);
    expect(readlinkSync(path.join(worktree, 'node_modules'))).toBe(path.join(root, 'node_modules'));
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(git(root, 'status', '--porcelain')).toBe('');
  });

  test('are not linked when git does not ignore them, or when they lead outside', async () => {
    const { root, worktree, furnish } = newFixture(area, {
      tracked: { '.gitignore': 'out\n', 'src/a': 'a' },
    });
    symlinkSync(area, path.join(root, 'out'));
    const report = await furnish({ link: ['src', 'out', '../x'] });
    expect(report.linked).toEqual([]);
    expect(why(report.skipped)).toEqual({
      '../x': 'workspace.link cannot name paths outside the repository.',
      src: 'Git does not ignore it in the main checkout, so it is not brought.',
      out: 'It leads outside the main checkout.',
    });
    expect(lstatSync(path.join(worktree, 'src')).isDirectory()).toBe(true);
  });
});

describe('the files of Copse', () => {
  test('are hidden from git without changing a tracked file, and shared ones are one link away', async () => {
    const { root, worktree, furnish } = newFixture(area, { tracked: { a: 'a' } });
    await furnish();
    write(worktree, {
      'AGENT_CONTEXT.md': 'x',
      '.claude/settings.local.json': '{}',
      '.copse/session.json': '{}',
    });
    expect(git(worktree, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(git(root, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(readlinkSync(path.join(worktree, '.copse/shared'))).toBe(path.join(root, '.copse/shared'));
  });

  test('that the repository itself tracks are left alone and named', async () => {
    const { worktree, furnish } = newFixture(area, { tracked: { 'AGENT_CONTEXT.md': 'theirs' } });
    const { notes } = await furnish();
    expect(notes).toEqual(['The repository tracks AGENT_CONTEXT.md, so Copse leaves it alone.']);
    expect(read(worktree, 'AGENT_CONTEXT.md')).toBe('theirs');
  });
});
