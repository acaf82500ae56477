/** Merging leaves nothing behind, and starts no process while the long-lived gits run. */

import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { findRepository } from '../../../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../../../packages/copse/src/queue/merge/open.ts';
import { MergeEngine, openTargetMerger } from '../../../../packages/copse/src/queue/merge/engine.ts';
import { Quarantine } from '../../../../packages/copse/src/git/objects/quarantine.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { type MergeMethod, mergeMethods } from '../../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea } from '../../../support/cli.ts';
import { gitsStartedBy } from '../../../support/git/git-starts.ts';
import { BASE, MergeScene, text } from '../../../support/queue/merging.ts';

const area = newArea();

/** Branches of three commits, each of which merges with what the others did to the same file. */
function newScene(branches: readonly string[]): MergeScene {
  const scene = new MergeScene(area);
  scene.commit('main', BASE);
  for (const [at, branch] of branches.entries()) {
    scene.commit(branch, { 'a.txt': text({ [at * 2]: `${branch}\n` }) });
    scene.commit(branch, { [`dir/${branch}.txt`]: 'n\n' });
    scene.commit(branch, { 'a.txt': text({ [at * 2]: `${branch} again\n` }) });
  }
  return scene;
}

const BRANCHES = ['one', 'two', 'three', 'four'];

function land(scene: MergeScene, branch: string, method: MergeMethod): () => Promise<void> {
  const [onto, head] = [scene.tip('main'), scene.tip(branch)];
  return async () => {
    const request = scene.request('one', { branch: brand(branch), onto, head, method });
    const built = await scene.merging.build(request);
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const move = { target: request.target, from: onto, to: built.commit };
    expect(await scene.merging.moveTarget({ ...move, isTrial: true })).toEqual({ kind: 'moved' });
    expect(await scene.merging.moveTarget(move)).toEqual({ kind: 'moved' });
  };
}

it.each(mergeMethods)('once they run, no git is started for a landing by %s or a trial', async (method) => {
  const scene = newScene(BRANCHES);
  for (const branch of BRANCHES.slice(0, 2)) await land(scene, branch, method)();
  for (const branch of BRANCHES.slice(2)) {
    const [onto, head] = [scene.tip('main'), scene.tip(branch)];
    const landing = land(scene, branch, method);
    const started = await gitsStartedBy(area, async () => {
      expect(await scene.merging.trial(onto, head, method)).toEqual({ conflicts: [] });
      await landing();
    });
    expect(started).toEqual([]);
  }
  expect(git(scene.top, 'fsck', '--strict', '--no-dangling')).toBe('');
});

it('without other changes to the same files, not even a long-lived git is used', async () => {
  const scene = newScene([]);
  for (const branch of BRANCHES)
    for (const name of ['a', 'b']) scene.commit(branch, { [`dir/${branch} ${name}.txt`]: 'n\n' });
  await scene.merging.trial(scene.tip('main'), scene.tip('one'));
  for (const [at, branch] of BRANCHES.entries()) {
    const landing = land(scene, branch, mergeMethods[at % mergeMethods.length]!);
    const started = await gitsStartedBy(area, landing);
    expect(started.filter((argv) => argv.startsWith('merge-tree'))).toEqual([]);
  }
  expect(git(scene.top, 'ls-tree', '--name-only', 'main:dir').split('\n')).toHaveLength(9);
});

it('a merge by attributes of the target has its own long-lived git', async () => {
  const scene = newScene([]);
  scene.commit('main', { '.gitattributes': '*.md merge=union\n', 'log.md': 'x\n' });
  for (const branch of BRANCHES) scene.commit(branch, { 'log.md': `x\n${branch}\n` });
  await land(scene, 'one', 'rebase')();
  await land(scene, 'two', 'rebase')();
  const landing = land(scene, 'three', 'rebase');
  expect(await gitsStartedBy(area, landing)).toEqual([]);
  expect(git(scene.top, 'show', 'main:log.md').split('\n')).toHaveLength(4);
});

it('a conflict is found without starting a git, and its other side with one', async () => {
  const scene = newScene(['one']);
  scene.commit('main', { 'a.txt': text({ 0: 'main\n' }) });
  const [onto, head] = [scene.tip('main'), scene.tip('one')];
  const request = scene.request('one');
  const trial = () => scene.merging.trial(onto, head, 'merge');
  await trial();
  expect(await gitsStartedBy(area, trial)).toEqual([]);
  const build = () => scene.merging.build({ ...request, method: 'merge' });
  expect(await gitsStartedBy(area, build)).toEqual([expect.stringContaining('rev-list')]);
});

it('without the long-lived merger, git is started for the branch and for each commit to merge', async () => {
  const [scene, same] = [newScene(BRANCHES), newScene(BRANCHES)];
  for (const branch of ['one', 'two', 'three']) {
    const [landing, plain] = [land(scene, branch, 'rebase'), land(same, branch, 'rebase')];
    await landing();
    const started = await gitsStartedBy(area, plain, { isAlone: true });
    if (branch === 'three')
      expect(started.map((argv) => argv.split(' ', 1)[0])).toEqual(Array(3).fill('merge-tree'));
  }
  expect([same.tree('main'), same.history('main')]).toEqual([scene.tree('main'), scene.history('main')]);
});

it('only the objects of a candidate are left', async () => {
  const scene = newScene(BRANCHES);
  for (const branch of BRANCHES) {
    const before = new Set(scene.objects());
    for (const method of mergeMethods)
      await scene.merging.trial(scene.tip('main'), scene.tip(branch), method);
    await scene.merging.conflicts(scene.tip('main'), scene.tip(branch), { files: 9, bytesPerFile: 999 });
    const built = await scene.build(branch);
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const reachable = git(scene.top, 'rev-list', '--objects', built.commit, '--not', '--all').split('\n');
    const names = new Set(reachable.map((line) => line.split(' ', 1)[0]));
    const added = scene.objects().filter((line) => !before.has(line));
    expect(added.filter((line) => !names.has(line.split(' ', 1)[0]))).toEqual([]);
    git(scene.top, 'update-ref', 'refs/heads/main', built.commit);
  }
});

it('no object is left of a refused candidate', async () => {
  const scene = newScene(['one']);
  scene.commit('main', { 'b.txt': 'main\n', 'a.txt': text({ 11: 'main\n' }) });
  scene.mergeInto('one', 'main', ['--strategy=ours']);
  const before = scene.objects();
  for (const method of mergeMethods)
    expect(await scene.build('one', { method })).toMatchObject({ kind: 'reverts' });
  expect(scene.objects()).toEqual(before);
});

/** Where the throwaway stores of all repositories are. */
const folderOf = (scene: MergeScene) => path.dirname(new Quarantine(scene.dir).folder);
const places = (scene: MergeScene) =>
  readdirSync(folderOf(scene)).filter((name) => name.startsWith('copse-merging-'));

it('closing removes the temporary store, and the next engine removes that of a killed process', async () => {
  const scene = newScene(['one']);
  const folder = folderOf(scene);
  mkdirSync(folder, { recursive: true });
  const before = new Set(places(scene));
  const merging = openMerging(openTrustedDir(findRepository(scene.top)!));
  await merging.trial(scene.tip('main'), scene.tip('one'));
  const mine = places(scene).find((name) => name.includes(`-${process.pid}-`) && !before.has(name));
  expect(mine).toBeDefined();
  expect(statSync(path.join(folder, mine!)).mode & 0o777).toBe(0o700);
  // One that was killed long ago, one that has just begun, and one whose process lives.
  const [old, fresh] = ['old', 'new'].map((name) => `copse-merging-1-${name}-${process.pid}`) as [
    string,
    string,
  ];
  for (const name of [old, fresh]) mkdirSync(path.join(folder, name, 'objects'), { recursive: true });
  for (const name of [old, mine!]) utimesSync(path.join(folder, name), 1, 1);
  await scene.build('one');
  expect(places(scene)).toEqual(expect.arrayContaining([mine, fresh]));
  expect(places(scene)).not.toContain(old);
  await merging.close();
  expect(places(scene)).not.toContain(mine);
  rmSync(path.join(folder, fresh), { recursive: true });
});

it('a stale store that cannot be removed does not stop a merge', async () => {
  const scene = newScene(['one']);
  const folder = path.join(folderOf(scene), `copse-merging-1-odd-${process.pid}`);
  mkdirSync(path.join(folder, 'lock', 'in the way'), { recursive: true });
  utimesSync(folder, 1, 1);
  expect(await scene.merging.trial(scene.tip('main'), scene.tip('one'))).toEqual({ conflicts: [] });
  rmSync(folder, { recursive: true });
});

it('a store that became large is emptied, and merging continues', async () => {
  const scene = newScene(BRANCHES);
  const engine = new MergeEngine(scene.dir);
  const [onto, head] = [scene.tip('main'), scene.tip('one')];
  const tree = scene.tree('main');
  const folder = path.join(engine.quarantine.objects, 'ff');
  for (let round = 0; round < 3; round += 1)
    await engine.use(async () => {
      const merger = await openTargetMerger(engine, { target: tree, paths: [] });
      for (let at = 0; at < 130; at += 1)
        expect(await merger.merge(onto, head)).toEqual({ kind: 'clean', tree: scene.tree('one') });
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, `big ${round}`), Buffer.alloc(65 * 1024 ** 2));
    });
  expect(existsSync(engine.quarantine.objects)).toBe(true);
  // It was looked at after the second round, and written again in the third.
  expect(engine.quarantine.bytes()).toBe(65 * 1024 ** 2);
  await engine.close();
});
