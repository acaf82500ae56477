/** Only merge drivers of copse.yml resolve conflicts. INVARIANTS 26 and 27. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import { BASE, type Files, text } from '../../support/queue/merging.ts';
import { ResolveScene, type Settings, isAtWork } from '../../support/queue/resolving.ts';

const area = newArea();

/** Both changed the same line of each. */
function newScene(drivers: Settings['drivers'] = {}, names: readonly string[] = ['a.txt']): ResolveScene {
  const scene = new ResolveScene(area);
  scene.settings = { drivers };
  const all = (line: string): Files => Object.fromEntries(names.map((name) => [name, text({ 4: line })]));
  scene.commit('main', { ...BASE, ...all('base\n') });
  scene.commit('task', all('task\n'));
  scene.commit('main', all('main\n'));
  return scene;
}

/** Says what it was given, as the result. */
const SHOW = 'cat %O %A %B > all; sed -n 5p %O; sed -n 5p %A; printf "%%s\\n" %P %L; mv all %A';

describe('a merge driver of copse.yml', () => {
  it('gets the base, the target’s version, the branch’s and the path, and leaves the result in %A', async () => {
    const scene = newScene({ '*.txt': SHOW });
    const resolved = await scene.resolve('task');
    expect(resolved).toEqual({
      tree: expect.any(String),
      files: ['a.txt'],
      note: 'Resolved by merge driver: a.txt',
    });
    expect(scene.file(resolved!.tree, 'a.txt')).toBe(
      text({ 4: 'base\n' }) + text({ 4: 'main\n' }) + text({ 4: 'task\n' }),
    );
    expect(scene.differing('main', resolved!.tree)).toEqual(['a.txt']);
  });

  it('may be a program with its arguments', async () => {
    const scene = newScene({ 'a.txt': ['cp', '%B', '%A'] });
    const resolved = await scene.resolve('task');
    expect(scene.file(resolved!.tree, 'a.txt')).toBe(text({ 4: 'task\n' }));
  });

  it('gets an empty base if both sides added the file', async () => {
    const scene = newScene({ 'new.txt': 'wc -c < %O > %A' });
    git(scene.top, 'branch', 'adds', 'main');
    scene.commit('main', { 'new.txt': 'main\n' });
    scene.commit('adds', { 'new.txt': 'adds\n' });
    const resolved = await scene.resolve('adds');
    expect(scene.file(resolved!.tree, 'new.txt').trim()).toBe('0');
  });

  it('gets a file that conflicts only by the target’s attributes', async () => {
    const scene = newScene({ 'b.txt': ['cp', '%B', '%A'] });
    scene.commit('main', { 'b.txt': text({ 1: 'main\n' }), '.gitattributes': 'b.txt -merge\n' });
    git(scene.top, 'branch', 'far', 'main~1');
    git(scene.top, 'update-ref', 'refs/heads/far', 'main~1');
    const base = scene.commit('far', { 'b.txt': text() });
    git(scene.top, 'update-ref', 'refs/heads/main', base);
    scene.commit('main', { 'b.txt': text({ 1: 'main\n' }) });
    scene.commit('far', { 'b.txt': text({ 10: 'far\n' }) });
    // Without the attribute it merges.
    const [onto, head] = [scene.tip('main'), scene.tip('far')];
    const tree = git(scene.top, 'merge-tree', '--write-tree', onto, head);
    const resolved = await scene.resolving.resolve({ onto, head, tree, files: ['b.txt'], env: {} });
    expect(scene.file(resolved!.tree, 'b.txt')).toBe(text({ 10: 'far\n' }));
  });

  it('keeps the mode that the merge gives the file', async () => {
    const scene = new ResolveScene(area);
    scene.settings = { drivers: { tool: ['cp', '%B', '%A'] } };
    scene.commit('main', { tool: text() });
    scene.commit('task', { tool: { program: text({ 4: 'task\n' }) } });
    scene.commit('main', { tool: text({ 4: 'main\n' }) });
    const resolved = await scene.resolve('task');
    expect(git(scene.top, 'ls-tree', resolved!.tree, 'tool')).toMatch(/^100755 /);
  });

  it.each([
    ['that reports a conflict too', 'echo out of order; exit 1', 'reports a conflict too (exit code 1)'],
    ['that fails', 'echo broken; exit 129', 'failed (exit code 129)'],
    ['that is not there', 'no-such-program-of-copse', 'could not start'],
    ['that leaves markers', 'printf "<<<<<<< a\\n=======\\n>>>>>>> b\\n" > %A', 'left conflict markers'],
  ])('%s resolves nothing, and its output is kept', async (_, command, said) => {
    const scene = newScene({ '*.txt': command });
    const conflict = scene.conflict('task');
    const before = scene.objects();
    expect(await scene.resolving.resolve(conflict)).toBeUndefined();
    const [tried = ''] = scene.resolving.tried(conflict);
    expect(tried).toContain(`The merge driver of a.txt ${said}`);
    if (command.startsWith('echo')) expect(tried).toMatch(/\n {2}(out of order|broken)$/);
    expect(scene.objects()).toEqual(before);
  });

  it('that times out is ended with every process it started', async () => {
    const scene = newScene({ '*.txt': 'sh -c "echo \\$\\$; sleep 600" & wait' });
    scene.settings = { ...scene.settings, commandTimeoutMs: 300 };
    const conflict = scene.conflict('task');
    expect(await scene.resolving.resolve(conflict)).toBeUndefined();
    const [tried = ''] = scene.resolving.tried(conflict);
    expect(tried).toContain('timed out');
    const pid = Number(/^ {2}(\d+)$/m.exec(tried)?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(isAtWork(pid)).toBe(false);
  });

  it('is not run again for a conflict that it could not resolve, and runs once for one that it could', async () => {
    const ran = path.join(area, 'ran');
    const scene = newScene({ '*.txt': ['sh', '-c', `echo x >> '${ran}'; exit 1`] });
    const conflict = scene.conflict('task');
    await Promise.all([scene.resolving.resolve(conflict), scene.resolving.resolve(conflict)]);
    expect(await scene.resolving.resolve(conflict)).toBeUndefined();
    scene.restarted({ drivers: { '*.txt': ['sh', '-c', `echo x >> '${ran}'; date +%s%N > %A`] } });
    const resolved = await scene.resolving.resolve(conflict);
    expect(await scene.resolving.resolve(conflict)).toEqual(resolved);
    expect(git(area, 'hash-object', ran)).toBe(git(area, 'hash-object', writeTwo()));
  });
});

function writeTwo(): string {
  const file = path.join(area, 'twice');
  writeFileSync(file, 'x\nx\n');
  return file;
}

describe('the files of a pattern', () => {
  const odd = 'dir/it\'s "$(touch pwned)";`touch pwned` %O.txt';
  it.each([
    ['*.txt', ['a.txt', 'dir/c.txt'], true],
    ['/*.txt', ['a.txt', 'dir/c.txt'], false],
    ['dir/**', ['dir/c.txt'], true],
    ['c.txt', ['dir/c.txt'], true],
    ['a b/[x]*.txt', ['a b/x y.txt'], true],
    ['#a.txt', ['#a.txt'], true],
    ['*.txt', [odd], true],
  ])('%s and %j', async (pattern, names, isResolved) => {
    const scene = newScene({ [pattern]: 'printf "%%s" %P > %A; ! test -e pwned' }, names);
    const resolved = await scene.resolve('task');
    expect(resolved !== undefined).toBe(isResolved);
    expect(await scene.resolving.mayResolve(scene.conflict('task'))).toBe(isResolved);
    for (const name of isResolved ? names : []) expect(scene.file(resolved!.tree, name)).toBe(name);
  });

  it('the last of several that match counts, as in .gitattributes', async () => {
    const scene = newScene({ '*.txt': 'echo first > %A', 'a.*': 'echo last > %A' });
    expect(scene.file((await scene.resolve('task'))!.tree, 'a.txt')).toBe('last\n');
  });
});

// promise: no-shell
it('no string of an agent reaches a shell, even if the command quotes the path itself', async () => {
  const name = "'; touch pwned; '.txt";
  const scene = newScene({ '*.txt': `echo '%P' "%P" > %A; ls > %A` }, [name]);
  const resolved = await scene.resolve('task');
  expect(scene.file(resolved!.tree, name)).toBe('base\nours\ntheirs\n');
});

describe('a driver gets only two versions of a file', () => {
  const cases: readonly (readonly [string, Files, Files])[] = [
    ['removed by the target', { 'a.txt': text({ 4: 'task\n' }) }, { 'a.txt': null }],
    ['removed by the branch', { 'a.txt': null }, { 'a.txt': text({ 4: 'main\n' }) }],
    ['a link', { 'a.txt': { link: 'b.txt' } }, { 'a.txt': { link: 'tool' } }],
    ['a file and a link', { 'a.txt': { link: 'b.txt' } }, { 'a.txt': text({ 4: 'main\n' }) }],
    ['added with different modes', { new: 'x\n' }, { new: { program: 'y\n' } }],
    ['renamed twice', { 'a.txt': null, 'x.txt': text() }, { 'a.txt': null, 'y.txt': text() }],
    ['a file and a folder', { new: 'x\n' }, { 'new/file': 'y\n' }],
  ];

  it.each(cases)('not a file that was %s', async (_, task, main) => {
    const scene = new ResolveScene(area);
    const ran = path.join(area, 'was-run');
    scene.settings = { drivers: { '*': `touch '${ran}'` } };
    scene.commit('main', BASE);
    scene.commit('task', task);
    scene.commit('main', main);
    expect(await scene.resolve('task')).toBeUndefined();
    expect(await scene.resolving.mayResolve(scene.conflict('task'))).toBe(false);
    expect(existsSync(ran)).toBe(false);
  });

  it('not a submodule', async () => {
    const scene = new ResolveScene(area);
    scene.settings = { drivers: { '*': 'touch ran' } };
    scene.commit('main', BASE);
    const pointAt = (branch: string, id: string) => {
      git(scene.desk, 'checkout', '--quiet', '--detach', branch);
      git(scene.desk, 'update-index', '--add', '--cacheinfo', `160000,${id.repeat(40)},sub`);
      git(scene.desk, 'commit', '--quiet', '--message=sub');
      git(scene.desk, 'update-ref', `refs/heads/${branch}`, 'HEAD');
    };
    pointAt('main', '1');
    git(scene.top, 'branch', 'task', 'main');
    pointAt('task', '2');
    pointAt('main', '3');
    expect(await scene.resolve('task')).toBeUndefined();
  });
});

it('git in a driver finds no repository, also with planted files', async () => {
  const scene = newScene({ '*.txt': '! git rev-parse --git-dir && git merge-file --union %A %O %B' });
  const resolved = await scene.resolve('task');
  expect(scene.file(resolved!.tree, 'a.txt')).toBe(text({ 4: 'main\ntask\n' }));
});

describe('a planted driver does not run', () => {
  // promise: planted-config-inert
  it('by the repository’s configuration and attributes, committed or not', async () => {
    const scene = newScene({ 'b.txt': ['cp', '%B', '%A'] });
    const pwned = path.join(area, 'planted');
    const plant = ['*.txt merge=planted copse-merge-driver=0', '* filter=planted', ''].join('\n');
    scene.commit('main', { '.gitattributes': plant });
    mkdirSync(path.join(scene.top, '.git', 'info'), { recursive: true });
    writeFileSync(path.join(scene.top, '.git', 'info', 'attributes'), plant);
    const command = `touch '${pwned}'; cp %B %A`;
    git(scene.top, 'config', 'merge.planted.driver', command);
    git(scene.top, 'config', 'merge.default', 'planted');
    git(scene.top, 'config', 'merge.planted.recursive', 'planted');
    git(scene.top, 'config', 'filter.planted.clean', `touch '${pwned}'; cat`);
    git(scene.top, 'config', 'filter.planted.smudge', `touch '${pwned}'; cat`);
    const [onto, head] = [scene.tip('main'), scene.tip('task')];
    // What plain git would make of it would run the driver, so the conflict is put together by hand.
    const conflict = { onto, head, files: ['a.txt'], tree: scene.tree('main'), env: {} };
    expect(await scene.resolving.resolve(conflict)).toBeUndefined();
    expect(await scene.resolving.mayResolve(conflict)).toBe(false);
    await scene.resolving.learn({ onto, head });
    expect(existsSync(pwned)).toBe(false);
  });
});
