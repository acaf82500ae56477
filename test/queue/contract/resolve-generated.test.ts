/** Generated files in conflict are written anew by the commands of copse.yml, in a checkout of the merge. */

import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import type { Files } from '../../support/queue/merging.ts';
import { ResolveScene, type Settings, isAtWork } from '../../support/queue/resolving.ts';

const area = newArea();

const parts = (...names: readonly string[]) => names.map((name) => `${name}\n`).join('');
/** A lockfile that says all that is in the manifest, and on which line. */
const lock = (...names: readonly string[]) => names.map((name, at) => `${at} ${name}\n`).join('');
const GENERATE = ['sort -u manifest > sorted', 'awk \'{ print NR - 1 " " $0 }\' sorted > lock'];

/** Both added something to the manifest, which merges, and to the lockfile, which does not. */
function newScene(settings: Settings = { lockfiles: { lock: GENERATE } }): ResolveScene {
  const scene = new ResolveScene(area);
  scene.settings = settings;
  scene.commit('main', { manifest: parts('a', 'm', 'z'), lock: lock('a', 'm', 'z'), other: 'as it was\n' });
  scene.commit('task', { manifest: parts('a', 'm', 'y', 'z'), lock: lock('a', 'm', 'y', 'z') });
  scene.commit('main', { manifest: parts('a', 'b', 'm', 'z'), lock: lock('a', 'b', 'm', 'z') });
  return scene;
}

it('a conflicting lockfile is generated from the merged manifest', async () => {
  const scene = newScene();
  const resolved = await scene.resolve('task');
  expect(resolved).toEqual({ tree: expect.any(String), files: ['lock'], note: 'Regenerated: lock' });
  expect(scene.file(resolved!.tree, 'manifest')).toBe(parts('a', 'b', 'm', 'y', 'z'));
  expect(scene.file(resolved!.tree, 'lock')).toBe(lock('a', 'b', 'm', 'y', 'z'));
  expect(scene.differing('main', resolved!.tree)).toEqual(['lock', 'manifest']);
  expect(await scene.resolving.mayResolve(scene.conflict('task'))).toBe(true);
});

it('the commands find the target’s version, without markers', async () => {
  const scene = newScene({ lockfiles: { './lock': ['cp lock seen', 'cat seen >> lock'] } });
  const resolved = await scene.resolve('task');
  expect(scene.file(resolved!.tree, 'lock')).toBe(lock('a', 'b', 'm', 'z').repeat(2));
});

it('only generated files are taken from the commands’ changes, and a note names the others', async () => {
  const more = ['echo changed > other', 'echo new > untracked', 'echo second > also', ...GENERATE];
  const scene = newScene({ lockfiles: { lock: more, also: ['false'], never: ['false'] } });
  scene.commit('main', { also: 'first\n' });
  const resolved = await scene.resolve('task');
  expect(resolved).toMatchObject({ files: ['also', 'lock'], note: expect.stringContaining('changes out') });
  expect(resolved!.note).toMatch(/^Regenerated: lock; Commands .* other; Copse left those changes out\.$/);
  expect(scene.differing('main', resolved!.tree)).toEqual(['also', 'lock', 'manifest']);
  expect(scene.file(resolved!.tree, 'also')).toBe('second\n');
});

it('other files are resolved first, and one that cannot be resolved stops it', async () => {
  const ran = path.join(area, 'ran');
  const scene = newScene({
    drivers: { manifest: ['sh', '-c', 'cat %A %B > all; sort -u all > %A'] },
    lockfiles: { lock: [`touch '${ran}'`, ...GENERATE] },
  });
  scene.commit('task', { manifest: parts('a', 'c', 'm', 'y', 'z') });
  const resolved = await scene.resolve('task');
  expect(resolved).toMatchObject({
    files: ['manifest', 'lock'],
    note: 'Resolved by merge driver: manifest; Regenerated: lock',
  });
  expect(scene.file(resolved!.tree, 'lock')).toBe(lock('a', 'b', 'c', 'm', 'y', 'z'));
  expect(existsSync(ran)).toBe(true);
  const without = path.join(area, 'without');
  scene.restarted({ lockfiles: { lock: [`touch '${without}'`, ...GENERATE] } });
  expect(await scene.resolve('task')).toBeUndefined();
  expect(existsSync(without)).toBe(false);
});

it('commands that fail resolve nothing, and the end of their output is kept', async () => {
  const scene = newScene({ lockfiles: { lock: ['echo no network; exit 7', ...GENERATE] } });
  const conflict = scene.conflict('task');
  const before = scene.objects();
  expect(await scene.resolving.resolve(conflict)).toBeUndefined();
  const tried = scene.resolving.tried(conflict);
  expect(tried).toHaveLength(1);
  expect(tried[0]).toMatch(
    /^Regenerating lock failed \(exit code 7\): echo no network; exit 7\n.*\n {2}no network$/,
  );
  expect(scene.objects()).toEqual(before);
});

it.each([
  ['removes it', 'rm lock'],
  ['makes it a link', 'ln -sf /etc/hostname lock'],
  ['makes it a folder', 'rm lock; mkdir lock; echo x > lock/x'],
])('a command that %s resolves nothing', async (_, command) => {
  const scene = newScene({ lockfiles: { lock: [command] } });
  const conflict = scene.conflict('task');
  expect(await scene.resolving.resolve(conflict)).toBeUndefined();
  expect(scene.resolving.tried(conflict)).toHaveLength(1);
});

it('a generated file that one side removed is not made again', async () => {
  const scene = newScene();
  scene.commit('main', { lock: null });
  expect(await scene.resolve('task')).toBeUndefined();
});

it('a file is generated even if the same conflict was resolved before', async () => {
  const scene = newScene();
  git(scene.top, 'branch', 'again', 'task');
  scene.mergeInto('task', 'main', [], { lock: 'by hand\n' });
  await scene.resolving.learn({ onto: scene.tip('main'), head: scene.tip('task') });
  expect(await scene.resolve('again')).toMatchObject({ note: 'Regenerated: lock' });
});

it('the commands run once for the same inputs, with any other changes on the target and any caller', async () => {
  const runs = path.join(area, 'runs');
  const counted = [`echo run >> '${runs}'`, ...GENERATE];
  const count = () => readFileSync(runs, 'utf8').length / 'run\n'.length;
  const scene = newScene({ lockfiles: { lock: counted } });
  const first = await scene.resolve('task');
  // A guess: the same, on top of something that has nothing to do with it.
  git(scene.top, 'branch', 'guess', 'main');
  scene.commit('guess', { other: 'changed\n', more: 'new\n' });
  const onGuess = await scene.resolving.resolve(scene.conflict('task', 'guess'));
  expect(count()).toBe(1);
  expect(onGuess).toMatchObject({ files: ['lock'], note: first!.note });
  expect(scene.file(onGuess!.tree, 'lock')).toBe(scene.file(first!.tree, 'lock'));
  expect(scene.differing('guess', onGuess!.tree)).toEqual(['lock', 'manifest']);
  scene.restarted();
  expect(await scene.resolve('task')).toEqual(first);
  expect(count()).toBe(1);

  // Another manifest, another lockfile, other commands: made from something else.
  scene.commit('guess', { manifest: parts('0', 'a', 'b', 'm', 'z') });
  const other = await scene.resolving.resolve(scene.conflict('task', 'guess'));
  expect(scene.file(other!.tree, 'lock')).toBe(lock('0', 'a', 'b', 'm', 'y', 'z'));
  scene.commit('main', { lock: `${lock('a', 'b', 'm', 'z')}# seen\n` });
  await scene.resolve('task');
  expect(count()).toBe(3);
  scene.restarted({ lockfiles: { lock: [...counted, 'echo end >> lock'] } });
  expect(scene.file((await scene.resolve('task'))!.tree, 'lock')).toMatch(/end\n$/);
});

it('a result is generated again after its cache was changed or deleted', async () => {
  const scene = newScene();
  const first = await scene.resolve('task');
  const store = path.join(scene.top, '.copse', 'generated');
  const [entry = ''] = readdirSync(store);
  const file = path.join(store, entry, 'result.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('0 a', '0 evil'));
  scene.restarted();
  expect(await scene.resolve('task')).toEqual(first);
  rmSync(store, { recursive: true });
  scene.restarted();
  expect(await scene.resolve('task')).toEqual(first);
});

it('commands that failed are retried by another process', async () => {
  const open = path.join(area, 'open');
  const scene = newScene({ lockfiles: { lock: [`test -e '${open}'`, ...GENERATE] } });
  expect(await scene.resolve('task')).toBeUndefined();
  writeFileSync(open, '');
  scene.restarted();
  expect(await scene.resolve('task')).toBeDefined();
});

it('the commands can reach no repository, no checkout changes, and nothing is left behind', async () => {
  const scene = newScene({
    lockfiles: { lock: ['! git rev-parse --git-dir 2> /dev/null', ...GENERATE] },
  });
  writeFileSync(path.join(scene.top, 'other'), 'somebody works here\n');
  const before = git(scene.top, 'status', '--porcelain');
  expect(await scene.resolve('task')).toBeDefined();
  expect(git(scene.top, 'status', '--porcelain')).toBe(before);
  expect(readdirSync(path.join(scene.top, '.copse', 'tmp'))).toEqual([]);
});

it('processes that the commands leave are ended, and they have none of Copse’s own variables', async () => {
  const said = path.join(area, 'said');
  const board = 'COPSE_BOARD';
  process.env[board] = 'postgres://secret@example.invalid/board';
  try {
    const scene = newScene({
      lockfiles: { lock: [`env > '${said}'; (sleep 600 & echo $! > '${said}.pid')`, ...GENERATE] },
    });
    expect(await scene.resolve('task')).toBeDefined();
  } finally {
    delete process.env[board];
  }
  expect(readFileSync(said, 'utf8')).not.toContain('secret');
  const pid = Number(readFileSync(`${said}.pid`, 'utf8'));
  expect(isAtWork(pid)).toBe(false);
});

it('line endings follow the attributes of the merge', async () => {
  const attributes: Files = { '.gitattributes': 'lock text eol=crlf\n' };
  const scene = newScene({
    lockfiles: { lock: ['grep -c "$(printf "\\r")" lock > count', 'cat count lock > l', 'mv l lock'] },
  });
  scene.commit('main', attributes);
  const resolved = await scene.resolve('task');
  expect(scene.file(resolved!.tree, 'lock')).toBe(`4\n${lock('a', 'b', 'm', 'z')}`);
});
