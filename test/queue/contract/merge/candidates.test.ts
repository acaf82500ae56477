/** What a candidate is made of, and what it says. INVARIANTS 21, 23 and 24. */

import { describe, expect, it } from 'vitest';

import { mergeMethods } from '../../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea } from '../../../support/cli.ts';
import { BASE, MergeScene, text } from '../../../support/queue/merging.ts';

const area = newArea();

function newScene(): MergeScene {
  const scene = new MergeScene(area);
  scene.commit('main', BASE);
  return scene;
}

// promise: authorship-kept
it('keeps author, author date, message and encoding byte for byte; Copse is the committer', async () => {
  const scene = newScene();
  const message = Buffer.from('f\xfcr\n\nB\xf6dy\n', 'latin1');
  scene.commit('task', { 'n.txt': 'n\n' }, { message, config: ['i18n.commitEncoding=ISO-8859-1'] });
  scene.commit('main', { 'b.txt': 'main\n' });
  const built = await scene.build('task', { plan: 'pl-1' });
  if (built.kind !== 'built') throw new Error(JSON.stringify(built));
  const raw = (commit: string) =>
    git(scene.top, 'cat-file', 'commit', commit).replaceAll(/^(tree|parent) .*\n/gm, '');
  const author = /^author .*\n/m.exec(raw('task'))![0];
  expect(raw(built.commit)).toBe(
    `${author}committer Copse <copse@localhost> 1700000000 +0000\nencoding ISO-8859-1\n\n` +
      'f\uFFFDr\n\nB\uFFFDdy\n\nTask: cp-0001\nPlan: pl-1',
  );
  expect(git(scene.top, 'show', '--no-patch', '--format=%s %b', built.commit)).toContain('für Bödy');
});

// promise: lands-once
it.each(mergeMethods)('gives the same commit each time, with %s', async (method) => {
  const scene = newScene();
  scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
  scene.commit('task', { 'a.txt': text({ 1: 'task\n', 2: 'again\n' }) });
  scene.commit('main', { 'a.txt': text({ 10: 'main\n' }) });
  const first = await scene.build('task', { method });
  expect(first.kind).toBe('built');
  expect(await scene.build('task', { method })).toEqual(first);
  const before = scene.objects();
  expect(await scene.build('task', { method })).toEqual(first);
  expect(scene.objects()).toEqual(before);
});

describe('a candidate', () => {
  it('is the branch itself if nothing has to change', async () => {
    const scene = newScene();
    scene.commit('task', { 'b.txt': '1\n' }, { message: 'one\n\nTask: cp-0001\n' });
    scene.commit('task', { 'b.txt': '2\n' }, { message: 'two\n\nbody\n\nRefs: #1\ntask: CP-0001\n' });
    expect(await scene.build('task')).toEqual({
      kind: 'built',
      commit: scene.tip('task'),
      tree: scene.tree('task'),
      commits: 2,
      note: null,
    });
  });

  it('has the message of the task if a commit has none', async () => {
    const scene = newScene();
    scene.commit('task', { 'b.txt': '1\n' }, { message: '' });
    const built = await scene.build('task');
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    expect(git(scene.top, 'show', '--no-patch', '--format=%B', built.commit)).toBe(
      'Räume auf\n\nTask: cp-0001',
    );
  });

  it.each(mergeMethods)('is the target itself if that has all of it already, with %s', async (method) => {
    const scene = newScene();
    const none = { kind: 'built', commits: 0, note: null };
    scene.commit('task', { 'b.txt': '1\n' });
    scene.commit('task', { 'b.txt': '2\n', 'n.txt': 'n\n' });
    git(scene.top, 'branch', 'old', 'main');
    const target = () => ({ ...none, commit: scene.tip('main'), tree: scene.tree('main') });
    expect(await scene.build('old', { method })).toEqual(target());
    // By somebody else, as one commit.
    scene.commit('main', { 'b.txt': '2\n', 'n.txt': 'n\n' });
    expect(await scene.build('task', { method })).toEqual(target());
    scene.mergeInto('main', 'task');
    expect(await scene.build('task', { method })).toEqual(target());
  });

  // promise: linear-history
  it('is rebased without the merges of the branch, with a note', async () => {
    const scene = newScene();
    scene.commit('task', { 'n.txt': 'n\n' });
    scene.commit('main', { 'b.txt': 'main\n' });
    scene.mergeInto('task', 'main');
    scene.commit('main', { 'more.txt': 'm\n' });
    const built = await scene.build('task');
    expect(built).toMatchObject({ kind: 'built', commits: 1, note: 'Rebased without the merges of task.' });
    if (built.kind === 'built') {
      expect(git(scene.top, 'rev-list', '--merges', `main..${built.commit}`)).toBe('');
      expect(scene.tree(built.commit)).toBe(scene.tree(scene.plainly('merge', 'task')!));
    }
    git(scene.desk, 'checkout', '--quiet', '--orphan', 'alone');
    git(scene.desk, 'commit', '--quiet', '--message=a beginning');
    expect(await scene.build('alone')).toEqual({ kind: 'unrelated' });
  });

  it('is squashed, with a note, when single commits conflict and the whole branch does not', async () => {
    const scene = newScene();
    scene.commit('task', { 'b.txt': 'to and\n' });
    scene.commit('task', { 'b.txt': 'b\n', 'n.txt': 'n\n' });
    scene.commit('main', { 'b.txt': 'main\n' });
    expect(scene.plainly('rebase', 'task')).toBeUndefined();
    const built = await scene.build('task');
    expect(built).toMatchObject({
      kind: 'built',
      commits: 1,
      note: expect.stringContaining('a single commit'),
    });
    if (built.kind === 'built')
      expect(scene.tree(built.commit)).toBe(scene.tree(scene.plainly('merge', 'task')!));
  });

  it('is squashed, with a note, when a rebase would revert the target', async () => {
    const scene = newScene();
    scene.commit('task', { 'added.txt': 'x\n' });
    scene.commit('task', { 'added.txt': null, 'n.txt': 'n\n' });
    scene.commit('main', { 'added.txt': 'x\n' });
    const built = await scene.build('task');
    expect(built).toMatchObject({ kind: 'built', note: expect.stringContaining('another result') });
    if (built.kind === 'built') expect(git(scene.top, 'show', `${built.commit}:added.txt`)).toBe('x');
  });

  // promise: linear-history
  it('is squashed, with a note and the list of its commits, when a merge of the branch resolved a conflict', async () => {
    const scene = newScene();
    scene.commit('task', { 'b.txt': 'task\n' }, { message: 'feat: b\n' });
    scene.commit('task', { 'n.txt': 'n\n' }, { message: 'feat: n\n' });
    scene.commit('main', { 'b.txt': 'main\n' });
    const tree = scene.commit('resolved', { 'b.txt': 'main and task\n', 'n.txt': 'n\n' });
    const parents = ['-p', scene.tip('task'), '-p', scene.tip('main')];
    const merge = git(scene.top, 'commit-tree', `${tree}^{tree}`, ...parents, '-m', 'Merge main');
    git(scene.top, 'update-ref', 'refs/heads/task', merge);
    scene.commit('main', { 'more.txt': 'm\n' });
    const built = await scene.build('task');
    expect(built).toMatchObject({ kind: 'built', commits: 1, note: expect.stringContaining('squashed') });
    if (built.kind !== 'built') return;
    expect(git(scene.top, 'show', '--no-patch', '--format=%P', built.commit)).toBe(scene.tip('main'));
    const message = git(scene.top, 'show', '--no-patch', '--format=%B', built.commit);
    expect(message).toMatch(/- feat: b\n- feat: n\n/);
    expect(git(scene.top, 'show', `${built.commit}:b.txt`)).toBe('main and task');
  });

  it('squashed, is one commit by the main author, with every message, person and trailer', async () => {
    const scene = newScene();
    const [ada, bob] = ['Ada <ada@example.invalid>', 'Böb <bob@example.invalid>'];
    scene.commit('task', { 'n.txt': '1\n' }, { author: bob, message: 'feat: one\n\nbody\n' });
    scene.commit('task', { 'n.txt': '2\n' }, { author: ada, message: 'fix: two\ngoes on\n' });
    scene.commit(
      'task',
      { 'n.txt': '3\n' },
      { author: bob, message: 'three\n\nCo-authored-by: Cy <CY@example.invalid>\n' },
    );
    scene.commit('main', { 'b.txt': 'main\n' });
    const built = await scene.build('task', { method: 'squash', plan: 'pl-2' });
    expect(built).toMatchObject({ kind: 'built', commits: 1, note: null });
    if (built.kind !== 'built') return;
    const date = git(scene.top, 'show', '--no-patch', '--format=%ad', 'task');
    expect(git(scene.top, 'show', '--no-patch', '--format=%an <%ae>%n%ad%n%P%n%B', built.commit)).toBe(
      `${bob}\n${date}\n${scene.tip('main')}\nRäume auf\n\n- feat: one\n\n  body\n\n- fix: two goes on\n- three\n\n` +
        `Co-authored-by: ${ada}\nCo-authored-by: Cy <CY@example.invalid>\nTask: cp-0001\nPlan: pl-2`,
    );
    expect(scene.tree(built.commit)).toBe(scene.tree(scene.plainly('merge', 'task')!));
  });

  it.each(['merge', 'squash'] as const)('has only its own trailers, with %s', async (method) => {
    const scene = newScene();
    scene.commit('task', { 'n.txt': 'n\n' }, { message: ': odd\n' });
    const title = 'feat: this\nTask: cp-9999';
    const built = await scene.build('task', { method, title });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const trailers = git(scene.top, 'show', '--no-patch', '--format=%(trailers)', built.commit);
    expect(trailers).toBe('Task: cp-0001');
  });

  it('that conflicts names the files and the commits of the other side, newest first', async () => {
    const scene = newScene();
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }), 'dir/c.txt': null });
    const one = scene.commit('main', { 'a.txt': text({ 1: 'main\n' }) });
    scene.commit('main', { 'b.txt': 'nothing to do with it\n' });
    const two = scene.commit('main', { 'dir/c.txt': 'changed\n' });
    for (const method of mergeMethods) {
      expect(await scene.build('task', { method })).toEqual({
        kind: 'conflict',
        files: ['a.txt', 'dir/c.txt'],
        theirs: [two, one],
      });
    }
    for (let at = 0; at < 25; at += 1) scene.commit('main', { 'a.txt': text({ 1: `main ${at}\n` }) });
    const built = await scene.build('task');
    expect(built).toMatchObject({ kind: 'conflict' });
    if ('theirs' in built) expect([built.theirs.length, built.theirs[0]]).toEqual([20, scene.tip('main')]);
  });

  // promise: planted-config-inert
  it('is merged by the attributes of the target, not by those of the branch', async () => {
    const scene = newScene();
    scene.commit('main', {
      'dir/.gitattributes': '*.md merge=union\n',
      'dir/log.md': 'x\n',
      'log.md': 'x\n',
    });
    scene.commit('task', { 'dir/log.md': 'x\ntask\n' });
    scene.commit('union', { 'log.md': 'x\ntask\n', '.gitattributes': '*.md merge=union\n' });
    scene.commit('locked', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('main', { 'dir/log.md': 'x\nmain\n', 'log.md': 'x\nmain\n' });
    const built = await scene.build('task');
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    expect(git(scene.top, 'show', `${built.commit}:dir/log.md`)).toBe('x\nmain\ntask');
    expect(await scene.build('union')).toMatchObject({ kind: 'conflict', files: ['log.md'] });
    expect(await scene.merging.trial(scene.tip('main'), scene.tip('union'))).toEqual({
      conflicts: ['log.md'],
      unfit: [],
    });
    expect(await scene.merging.trial(scene.tip('main'), scene.tip('task'))).toEqual({
      conflicts: [],
      unfit: [],
    });
    scene.commit('main', { '.gitattributes': '*.txt -merge\n', 'a.txt': text({ 10: 'main\n' }) });
    expect(await scene.build('locked')).toMatchObject({
      kind: 'conflict',
      files: ['a.txt'],
    });
  });
});

it('lists commits newest first, with merges, up to a limit', async () => {
  const scene = newScene();
  const main = scene.tip('main');
  const one = scene.commit(
    'task',
    { 'n.txt': 'n\n' },
    { message: 'feat: one\ngoes on\n\nbody\n\nTask: cp-1\n' },
  );
  const other = scene.commit('main', { 'b.txt': 'main\n' });
  const merge = scene.mergeInto('task', 'main');
  const list = (limit: number) => scene.merging.commits(other, scene.tip('task'), limit);
  expect(await list(10)).toEqual([
    { id: merge, subject: 'Merge main', body: '', isMerge: true },
    { id: one, subject: 'feat: one goes on', body: 'body\n\nTask: cp-1', isMerge: false },
  ]);
  expect(await list(1)).toHaveLength(1);
  expect(await scene.merging.commits(main, main, 10)).toEqual([]);
});
