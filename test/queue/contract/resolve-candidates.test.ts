/** Candidates of branches whose conflicts Copse resolved. INVARIANTS 21, 22 and 24. */

import { describe, expect, it } from 'vitest';

import { mergeMethods } from '../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea } from '../../support/cli.ts';
import { BASE, text } from '../../support/queue/merging.ts';
import { ResolveScene, type Settings } from '../../support/queue/resolving.ts';

const area = newArea();

function newScene(settings: Settings): ResolveScene {
  const scene = new ResolveScene(area);
  scene.settings = settings;
  scene.commit('main', { ...BASE, lock: '1\n' });
  scene.commit('task', { 'a.txt': text({ 4: 'task\n' }), 'n.txt': 'n\n', lock: '2 task\n' });
  scene.commit('main', { 'a.txt': text({ 4: 'main\n' }), 'b.txt': 'main\n', lock: '2 main\n' });
  return scene;
}

const BOTH: Settings = {
  drivers: { 'a.txt': 'sed -n 5p %B > line; sed -i "5r line" %A' },
  lockfiles: { lock: ['cat a.txt n.txt | wc -l > lock'] },
};

describe.each(mergeMethods)('with %s', (method) => {
  it('a branch whose conflict is resolved becomes a candidate with a note of the way', async () => {
    const scene = newScene(BOTH);
    const built = await scene.build('task', { method });
    expect(built).toMatchObject({
      kind: 'built',
      note: 'Resolved by merge driver: a.txt; Regenerated: lock',
      commits: method === 'squash' ? 1 : 2,
    });
    if (built.kind !== 'built') return;
    expect(scene.file(built.commit, 'a.txt')).toBe(text({ 4: 'main\ntask\n' }));
    expect(scene.file(built.commit, 'lock').trim()).toBe('14');
    expect(scene.differing('main', built.commit)).toEqual(['a.txt', 'lock', 'n.txt']);
    const parents = git(scene.top, 'show', '--no-patch', '--format=%P', built.commit);
    const expected = method === 'squash' ? [scene.tip('main')] : [scene.tip('main'), scene.tip('task')];
    expect(parents).toBe(expected.join(' '));
    // All of it is in the repository, and asked again, it is the same.
    git(scene.top, 'update-ref', 'refs/copse/candidate/la-1', built.commit);
    expect(git(scene.top, 'fsck', '--connectivity-only')).toBe('');
    expect(await scene.build('task', { method })).toEqual(built);
  });

  it('a branch whose conflict cannot be resolved is refused as before, and leaves nothing behind', async () => {
    const scene = newScene({ ...BOTH, lockfiles: {} });
    const before = scene.objects();
    expect(await scene.build('task', { method })).toMatchObject({
      kind: 'conflict',
      files: ['a.txt', 'lock'],
    });
    expect(scene.objects()).toEqual(before);
  });
});

it('commands with changing results give one candidate', async () => {
  const scene = newScene({ drivers: { '*': 'date +%s%N > %A' } });
  const built = await scene.build('task');
  expect(built.kind).toBe('built');
  expect(await scene.build('task')).toEqual(built);
});

it('a branch lands without a conflict task once a recorded resolution fits', async () => {
  const scene = newScene({ lockfiles: { lock: ['echo 3 > lock'] } });
  git(scene.top, 'branch', 'again', 'task~1');
  scene.commit('again', { 'a.txt': text({ 4: 'task\n' }) });
  scene.mergeInto('task', 'main', [], { 'a.txt': text({ 4: 'both\n' }), lock: '3\n' });
  await scene.resolving.learn({ onto: scene.tip('main'), head: scene.tip('task'), base: null });
  const built = await scene.build('again');
  expect(built).toMatchObject({ kind: 'built', note: 'Resolved as before: a.txt' });
});
