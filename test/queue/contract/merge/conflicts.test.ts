/** Lists of conflicts, and candidates of resolved conflicts. */

import { execFileSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import type { MergingOptions } from '../../../../packages/copse/src/queue/merge/open.ts';
import { type ConflictedMerge, type Resolution } from '../../../../packages/copse/src/queue/ports/merging.ts';
import { mergeMethods } from '../../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea, plainEnv } from '../../../support/cli.ts';
import { BASE, MergeScene, text } from '../../../support/queue/merging.ts';

const area = newArea();

function newScene(options: MergingOptions = {}): MergeScene {
  const scene = new MergeScene(area, options);
  scene.commit('main', BASE);
  return scene;
}

describe('the list of conflicts', () => {
  const LIMITS = { files: 10, bytesPerFile: 4_000 };
  const list = (scene: MergeScene, limits = LIMITS) =>
    scene.merging.conflicts(scene.tip('main'), scene.tip('task'), limits);

  it('has, by file, the lines with markers and their context, or git’s message', async () => {
    const scene = newScene();
    scene.commit('task', { 'a.txt': text({ 6: 'task\n' }), 'dir/c.txt': null, bin: Buffer.from([0, 9]) });
    scene.commit('main', { 'a.txt': text({ 6: 'main\n' }), 'dir/c.txt': 'c\n', bin: Buffer.from([0, 1]) });
    const [main, task] = [scene.tip('main'), scene.tip('task')];
    const before = scene.objects();
    expect(await list(scene)).toEqual([
      {
        file: 'a.txt',
        kind: 'contents',
        message: 'CONFLICT (content): Merge conflict in a.txt',
        hunks:
          `@@ line 4 @@\nline 3\nline 4\nline 5\n<<<<<<< ${main}\nmain\n=======\ntask\n>>>>>>> ${task}\n` +
          'line 7\nline 8\nline 9\n',
      },
      {
        file: 'bin',
        kind: 'binary',
        message: expect.stringContaining('bin'),
        hunks: null,
      },
      {
        file: 'dir/c.txt',
        kind: 'modify/delete',
        message: expect.stringMatching(/^CONFLICT \(modify\/delete\): dir\/c\.txt deleted in /),
        hunks: null,
      },
    ]);
    expect(scene.objects()).toEqual(before);
  });

  it('is empty for a clean merge', async () => {
    const scene = newScene();
    scene.commit('task', { 'n.txt': 'n\n' });
    scene.commit('main', { 'b.txt': 'main\n' });
    expect(await list(scene)).toEqual([]);
  });

  it('is cut at whole lines, after so many bytes of a file and so many files', async () => {
    const scene = newScene();
    const many = (line: string) => `${line}\n`.repeat(2_000);
    scene.commit('task', { 'a.txt': many('täsk'), 'b.txt': 'task\n' });
    scene.commit('main', { 'a.txt': many('mäin'), 'b.txt': 'main\n' });
    const [one, ...others] = await list(scene, { files: 1, bytesPerFile: 500 });
    expect(others).toEqual([]);
    expect(Buffer.byteLength(one!.hunks!)).toBeLessThan(600);
    expect(one!.hunks).toMatch(/mäin\n… the rest is too long to show\n$/);
  });

  it('ignores lines that only look like markers', async () => {
    const scene = newScene();
    const looks = '<<<<<<< x\n=======\n>>>>>>> y\n';
    scene.commit('main', { 'a.txt': looks });
    scene.commit('task', { 'a.txt': `${looks}task\n` });
    scene.commit('main', { 'a.txt': `${looks}main\n` });
    const [one] = await list(scene);
    expect(one!.hunks!.match(/^<<<<<<< /gm)).toHaveLength(2);
    expect(one!.hunks).toContain(`<<<<<<< ${scene.tip('main')}\nmain\n`);
  });
});

/** Writes the tree of the conflict with other files in it, as the conflict's environment says. */
function writeTree(
  { tree, env }: ConflictedMerge,
  files: Readonly<Record<string, string>>,
  top: string,
): string {
  const options = { cwd: top, env: { ...plainEnv, ...env, GIT_INDEX_FILE: `${top}/.git/scratch` } };
  execFileSync('git', ['read-tree', tree], options);
  for (const [name, content] of Object.entries(files)) {
    const argv = ['hash-object', '-w', '--stdin'];
    const id = execFileSync('git', argv, { ...options, input: content, encoding: 'utf8' }).trim();
    execFileSync('git', ['update-index', '--add', '--cacheinfo', `100644,${id},${name}`], options);
  }
  return execFileSync('git', ['write-tree'], { ...options, encoding: 'utf8' }).trim();
}

describe('a conflict with a resolver', () => {
  const BOTH = text({ 6: 'both\n' });

  function conflicting(
    resolve: (conflict: ConflictedMerge, top: string) => Resolution | undefined,
  ): MergeScene {
    const scene: MergeScene = newScene({
      resolve: (conflict) => Promise.resolve(resolve(conflict, scene.top)),
    });
    const both = (at: number, line: string) => ({
      'a.txt': text({ 6: line }),
      'dir/c.txt': text({ 3: 'c\n', [at]: line }),
    });
    scene.commit('task', { ...both(0, 'task\n'), 'n.txt': 'n\n' });
    scene.commit('main', { ...both(10, 'main\n'), 'b.txt': 'main\n' });
    return scene;
  }

  const note = 'Resolved as before: a.txt';

  it.each(mergeMethods)('becomes a candidate, with %s', async (method) => {
    const asked: ConflictedMerge[] = [];
    const scene = conflicting((conflict, top) => {
      asked.push(conflict);
      return { tree: writeTree(conflict, { 'a.txt': BOTH }, top), files: ['a.txt'], note };
    });
    const [onto, head] = [scene.tip('main'), scene.tip('task')];
    const built = await scene.build('task', { method });
    expect(asked).toMatchObject([{ onto, head, files: ['a.txt'] }]);
    expect(built).toMatchObject({ kind: 'built', note });
    if (built.kind !== 'built') return;
    const parents = git(scene.top, 'show', '--no-patch', '--format=%P', built.commit);
    expect(parents).toBe(method === 'squash' ? onto : `${onto} ${head}`);
    expect(git(scene.top, 'show', `${built.commit}:a.txt`)).toBe(BOTH.trimEnd());
    expect(git(scene.top, 'diff', '--name-only', onto, built.commit)).toBe('a.txt\ndir/c.txt\nn.txt');
    expect(git(scene.top, 'fsck', '--strict', '--no-dangling')).toBe('');
    expect(await scene.build('task', { method })).toEqual(built);
  });

  it('stays a conflict when the resolver has no answer', async () => {
    const scene = conflicting(() => undefined);
    expect(await scene.build('task')).toMatchObject({ kind: 'conflict', files: ['a.txt'] });
  });

  it('is not passed to the resolver when the commits land one by one', async () => {
    const scene: MergeScene = newScene({ resolve: () => Promise.reject(new Error('asked')) });
    const picked = scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'n.txt': 'n\n' });
    git(scene.desk, 'checkout', '--quiet', '--detach', 'main');
    git(scene.desk, 'cherry-pick', picked);
    git(scene.desk, 'update-ref', 'refs/heads/main', 'HEAD');
    scene.commit('main', { 'a.txt': text({ 1: 'main went on\n' }) });
    expect(await scene.build('task')).toMatchObject({ kind: 'built', commits: 1, note: null });
  });

  it('may change the files in conflict and those it names, and nothing else', async () => {
    const resolved = {
      'a.txt': BOTH,
      'lock.json': 'new\n',
      'b.txt': 'b\n',
      'dir/c.txt': text({ 3: 'c\n', 0: 'task\n' }),
      'n.txt': 'other\n',
    };
    const scene = conflicting((conflict, top) => ({
      tree: writeTree(conflict, resolved, top),
      files: ['lock.json'],
      note,
    }));
    const before = scene.objects();
    for (const method of mergeMethods)
      expect(await scene.build('task', { method })).toEqual({
        kind: 'reverts',
        files: ['b.txt', 'dir/c.txt', 'n.txt'],
      });
    expect(scene.objects()).toEqual(before);
  });
});
