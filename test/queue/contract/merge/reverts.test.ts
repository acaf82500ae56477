/** INVARIANTS 22 and 24: what the task did not change stays, whatever the merges of its branch make of it. */

import { describe, expect, it } from 'vitest';

import { MergeEngine, openTargetMerger } from '../../../../packages/copse/src/queue/merge/engine.ts';
import { loadBranch } from '../../../../packages/copse/src/queue/merge/branch.ts';
import { findReverts } from '../../../../packages/copse/src/queue/merge/verify.ts';
import { mergeMethods } from '../../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea } from '../../../support/cli.ts';
import { type Files, MergeScene, putFiles } from '../../../support/queue/merging.ts';

const area = newArea();
const lines = (...changes: readonly (readonly [number, string])[]) => {
  const text = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  for (const [at, line] of changes) text[at] = line;
  return `${text.join('\n')}\n`;
};

/** The task changes the top of one file; main changes its end, another file, and deletes one. */
function newScene(): MergeScene {
  const scene = new MergeScene(area);
  scene.commit('main', { 'both.txt': lines(), 'theirs ü.txt': 'old\n', 'gone.txt': 'gone\n' });
  scene.commit('task', { 'both.txt': lines([1, 'task']), 'mine.txt': 'mine\n' });
  scene.commit('main', { 'both.txt': lines([18, 'main']), 'theirs ü.txt': 'new\n', 'gone.txt': null });
  return scene;
}

describe.each(mergeMethods)('landing with %s', (method) => {
  // promise: only-own-changes
  it('is refused if a merge of the branch kept nothing of the target', async () => {
    const scene = newScene();
    scene.mergeInto('task', 'main', ['--strategy=ours']);
    const expected = { kind: 'reverts', files: ['both.txt', 'gone.txt', 'theirs ü.txt'] };
    expect(await scene.build('task', { method })).toEqual(expected);
    // Nor does it help to bury it.
    scene.commit('task', { 'mine.txt': 'more\n' });
    scene.commit('main', { 'later.txt': 'later\n' });
    expect(await scene.build('task', { method })).toEqual(expected);
  });

  // promise: only-own-changes
  it('is refused if a merge dropped only the other side of a file that both changed', async () => {
    const scene = newScene();
    scene.mergeInto('task', 'main', [], { 'both.txt': lines([1, 'task']) });
    expect(await scene.build('task', { method })).toEqual({
      kind: 'reverts',
      files: ['both.txt'],
    });
  });

  it('accepts a correct merge, with and without a resolved conflict', async () => {
    const scene = newScene();
    scene.mergeInto('task', 'main');
    expect(await scene.build('task', { method })).toMatchObject({ kind: 'built' });
    scene.commit('main', { 'both.txt': lines([1, 'main too'], [18, 'main']), 'x.txt': 'x\n' });
    scene.mergeInto('task', 'main', [], { 'both.txt': lines([1, 'task and main'], [18, 'main']) });
    const built = await scene.build('task', { method });
    expect(built).toMatchObject({ kind: 'built' });
    if (built.kind === 'built') expect(scene.tree(built.commit)).toBe(scene.tree('task'));
  });
});

/** What is found wrong with main if the files were to be like this. */
async function wrongWith(scene: MergeScene, files: Files): Promise<readonly string[]> {
  const [onto, head] = [scene.tip('main'), scene.tip('task')];
  git(scene.desk, 'checkout', '--quiet', '--force', '--detach', 'main');
  putFiles(scene.desk, files);
  git(scene.desk, 'add', '--all');
  const tree = git(scene.desk, 'write-tree');
  const engine = new MergeEngine(scene.dir);
  try {
    return await engine.use(async () => {
      const { objects } = engine;
      const branch = await loadBranch(objects, onto, head);
      const target = await objects.commit(onto);
      const merger = await openTargetMerger(engine, { target: target.tree, paths: branch.own });
      return findReverts(merger, { branch, target, tree });
    });
  } finally {
    await engine.close();
  }
}

// promise: only-own-changes
describe('a tree that is not what was submitted is refused:', () => {
  const right = { 'both.txt': lines([1, 'task'], [18, 'main']), 'mine.txt': 'mine\n' };

  it('but not the submitted one', async () => {
    expect(await wrongWith(newScene(), right)).toEqual([]);
  });

  it('a path differs that no commit of the task changed', async () => {
    expect(await wrongWith(newScene(), { ...right, 'theirs ü.txt': 'old\n' })).toEqual(['theirs ü.txt']);
    expect(await wrongWith(newScene(), { ...right, 'deep/new.txt': 'x\n' })).toEqual(['deep/new.txt']);
  });

  it('a path that only the task changed is not as it left it, or not there at all', async () => {
    expect(await wrongWith(newScene(), { ...right, 'mine.txt': 'other\n' })).toEqual(['mine.txt']);
    expect(await wrongWith(newScene(), { 'both.txt': right['both.txt'] })).toEqual(['mine.txt']);
    const program = { program: 'mine\n' };
    expect(await wrongWith(newScene(), { ...right, 'mine.txt': program })).toEqual(['mine.txt']);
    const scene = newScene();
    scene.commit('task', { 'mine.txt': null, 'mine/too.txt': 'x\n' });
    expect(await wrongWith(scene, right)).toEqual(['mine.txt', 'mine/too.txt']);
  });

  it('also if it was merged before', async () => {
    const scene = newScene();
    scene.mergeInto('task', 'main');
    scene.commit('task', { 'theirs ü.txt': 'task\n' });
    scene.commit('main', { 'more.txt': 'm\n' });
    expect(await wrongWith(scene, { ...right, 'theirs ü.txt': 'task\n' })).toEqual([]);
    expect(await wrongWith(scene, right)).toEqual(['theirs ü.txt']);
  });

  it('but a change of the target follows a file that the task renamed', async () => {
    const scene = newScene();
    scene.commit('task', { 'both.txt': null, 'moved.txt': lines([1, 'task']) });
    const merged = { 'both.txt': null, 'moved.txt': right['both.txt'], 'mine.txt': 'mine\n' };
    expect(await wrongWith(scene, merged)).toEqual([]);
    expect(await wrongWith(scene, { ...merged, 'mine.txt': null, 'both.txt': right['both.txt'] })).toEqual(
      [],
    );
  });
});

it('a merge that reverted a change does no harm once it is corrected', async () => {
  const scene = newScene();
  scene.mergeInto('task', 'main', ['--strategy=ours']);
  scene.commit('task', {
    'both.txt': lines([1, 'task'], [18, 'main']),
    'theirs ü.txt': 'new\n',
    'gone.txt': null,
  });
  // For the file that both sides changed this is undecidable, so it stays refused.
  expect(await scene.build('task')).toMatchObject({ kind: 'reverts', files: ['both.txt'] });
  scene.commit('task', { 'both.txt': lines([18, 'main']) });
  expect(await scene.build('task')).toMatchObject({ kind: 'built' });
});

it('a merge may keep a file in conflict under a name that neither side has', async () => {
  const scene = newScene();
  scene.commit('task', { 'gone.txt': 'changed\n' });
  scene.mergeInto('task', 'main', [], { 'gone.txt': null, 'kept.txt': 'changed\n' });
  expect(await scene.build('task')).toMatchObject({ kind: 'built' });
});

it('a file that the target renamed, before or after a merge, is still the one that the task changed', async () => {
  const scene = newScene();
  scene.commit('main', { 'both.txt': null, 'moved.txt': lines([18, 'main']) });
  for (const method of mergeMethods)
    expect(await scene.build('task', { method })).toMatchObject({ kind: 'built' });
  scene.mergeInto('task', 'main');
  scene.commit('main', { 'later.txt': 'later\n' });
  const built = await scene.build('task');
  expect(built).toMatchObject({ kind: 'built' });
  if (built.kind === 'built') expect(git(scene.top, 'show', `${built.commit}:moved.txt`)).toContain('task');
});

it('octopus merges are checked as well', async () => {
  const scene = newScene();
  scene.commit('other', { 'other.txt': 'o\n' });
  scene.commit('third', { 'third.txt': 't\n' });
  git(scene.desk, 'checkout', '--quiet', '--detach', 'task');
  git(scene.desk, 'merge', '--quiet', '--message=octopus', 'other', 'third');
  git(scene.desk, 'update-ref', 'refs/heads/honest', 'HEAD');
  expect(git(scene.top, 'rev-list', '--parents', '-1', 'honest').split(' ')).toHaveLength(4);
  expect(await scene.build('honest')).toMatchObject({ kind: 'built' });
  const tree = scene.tree('task');
  const parents = ['task', 'other', 'third'].flatMap((name) => ['-p', scene.tip(name)]);
  git(scene.top, 'branch', 'evil', git(scene.top, 'commit-tree', tree, ...parents, '-m', 'evil'));
  const built = await scene.build('evil');
  expect(built).toMatchObject({ kind: 'reverts' });
  if ('files' in built) expect(built.files).toContain('theirs ü.txt');
});

it('a merge of an unrelated history adds its files', async () => {
  const scene = newScene();
  git(scene.desk, 'checkout', '--quiet', '--orphan', 'foreign');
  git(scene.desk, 'rm', '-r', '--quiet', '--force', '.');
  git(scene.desk, 'commit', '--quiet', '--allow-empty', '--message=root');
  git(scene.desk, 'checkout', '--quiet', '--detach');
  scene.commit('foreign', { 'vendor/v.txt': 'v\n' });
  scene.mergeInto('task', 'foreign', ['--allow-unrelated-histories']);
  const built = await scene.build('task');
  expect(built).toMatchObject({ kind: 'built', note: expect.stringContaining('merge commits') });
  if (built.kind === 'built') expect(git(scene.top, 'show', `${built.commit}:vendor/v.txt`)).toBe('v');
});
