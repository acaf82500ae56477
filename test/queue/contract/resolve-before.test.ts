/** Recorded resolutions: which ones Copse keeps, and when it uses them. */

import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { git, newArea } from '../../support/cli.ts';
import { BASE, text } from '../../support/queue/merging.ts';
import { ResolveScene } from '../../support/queue/resolving.ts';

const area = newArea();

/** Main and `b` changed the same line; `b` merged main and resolved it, and landed. */
async function newScene(resolution = text({ 4: 'both\n' })): Promise<ResolveScene> {
  const scene = new ResolveScene(area);
  scene.commit('main', BASE);
  scene.commit('b', { 'a.txt': text({ 4: 'theirs\n' }) });
  git(scene.top, 'branch', 'c', 'main');
  scene.commit('main', { 'a.txt': text({ 4: 'ours\n' }) });
  git(scene.top, 'branch', 'before', 'main');
  scene.mergeInto('b', 'main', [], { 'a.txt': resolution });
  await scene.resolving.learn({ onto: scene.tip('main'), head: scene.tip('b') });
  return scene;
}

it('resolves a conflict as before, on any branch and with the sides swapped', async () => {
  const scene = await newScene();
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n' }), 'n.txt': 'n\n' });
  const resolved = await scene.resolve('c');
  expect(resolved).toEqual({ tree: expect.any(String), files: ['a.txt'], note: 'Resolved as before: a.txt' });
  expect(scene.file(resolved!.tree, 'a.txt')).toBe(text({ 4: 'both\n' }));
  expect(scene.differing('main', resolved!.tree)).toEqual(['a.txt', 'n.txt']);
  // The other way round, too: what was main is the branch.
  git(scene.top, 'branch', 'd', 'before');
  git(scene.top, 'update-ref', 'refs/heads/main', scene.tip('c'));
  const swapped = await scene.resolve('d');
  expect(scene.file(swapped!.tree, 'a.txt')).toBe(text({ 4: 'both\n' }));
});

it('is remembered by a later process', async () => {
  const scene = await newScene();
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n' }) });
  scene.restarted();
  expect(await scene.resolving.mayResolve(scene.conflict('c'))).toBe(true);
  expect(await scene.resolve('c')).toMatchObject({ note: 'Resolved as before: a.txt' });
});

it('keeps other changes of the file', async () => {
  const scene = await newScene();
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n', 11: 'the last\n' }) });
  scene.commit('main', { 'a.txt': text({ 0: 'the first\n', 4: 'ours\n' }) });
  const resolved = await scene.resolve('c');
  const wanted = text({ 0: 'the first\n', 4: 'both\n', 11: 'the last\n' });
  expect(scene.file(resolved!.tree, 'a.txt')).toBe(wanted);
});

it('does not resolve another conflict at the same place, nor a second one in the file', async () => {
  const scene = await newScene();
  scene.commit('c', { 'a.txt': text({ 4: 'something else\n' }) });
  git(scene.top, 'branch', 'd', 'main~1');
  scene.commit('d', { 'a.txt': text({ 4: 'theirs\n', 10: 'd\n' }) });
  expect(await scene.resolve('c')).toBeUndefined();
  expect(await scene.resolving.mayResolve(scene.conflict('c'))).toBe(false);
  scene.commit('main', { 'a.txt': text({ 4: 'ours\n', 10: 'main\n' }) });
  expect(await scene.resolve('d')).toBeUndefined();
});

it('resolves all files or none', async () => {
  const scene = await newScene();
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n' }), 'b.txt': 'c\n' });
  scene.commit('main', { 'b.txt': 'main\n' });
  const conflict = scene.conflict('c');
  const before = scene.objects();
  expect(await scene.resolving.resolve(conflict)).toBeUndefined();
  expect(scene.objects()).toEqual(before);
});

it('learns nothing from a resolution that has markers in it', async () => {
  const marked = text({ 4: '<<<<<<< HEAD\ntheirs\n=======\nours\n>>>>>>> main\n' });
  const scene = await newScene(marked);
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n' }) });
  expect(await scene.resolve('c')).toBeUndefined();
  expect(existsSync(scene.memory)).toBe(false);
});

it('learns nothing from a branch without merges, nor from merges that the target has', async () => {
  const scene = new ResolveScene(area);
  scene.commit('main', BASE);
  scene.commit('b', { 'a.txt': text({ 4: 'theirs\n' }) });
  scene.commit('main', { 'a.txt': text({ 4: 'ours\n' }) });
  scene.mergeInto('main', 'b', [], { 'a.txt': text({ 4: 'both\n' }) });
  scene.commit('task', { 'b.txt': 'task\n' });
  expect(await scene.resolving.learn({ onto: scene.tip('main'), head: scene.tip('task') })).toEqual([]);
  scene.commit('main', { 'b.txt': 'main\n' });
  expect(await scene.resolving.learn({ onto: scene.tip('main'), head: scene.tip('task') })).toEqual([]);
  expect(existsSync(scene.memory)).toBe(false);
});

it('never uses the repository’s own rerere records, which agents can write', async () => {
  const scene = new ResolveScene(area);
  scene.commit('main', BASE);
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n' }) });
  scene.commit('main', { 'a.txt': text({ 4: 'ours\n' }) });
  git(scene.top, 'config', 'rerere.enabled', 'true');
  git(scene.top, 'branch', 'b', 'c');
  scene.mergeInto('b', 'main', [], { 'a.txt': text({ 4: 'planted\n' }) });
  expect(readdirSync(path.join(scene.top, '.git', 'rr-cache'))).toHaveLength(1);
  expect(await scene.resolve('c')).toBeUndefined();
});

it('ignores a record that was damaged or changed', async () => {
  const scene = await newScene();
  scene.commit('c', { 'a.txt': text({ 4: 'theirs\n' }) });
  const [name = ''] = readdirSync(scene.memory);
  writeFileSync(path.join(scene.memory, name, 'after'), text({ 4: 'changed\n' }));
  expect(await scene.resolve('c')).toBeUndefined();
  rmSync(path.join(scene.memory, name, 'after'));
  scene.restarted();
  expect(await scene.resolve('c')).toBeUndefined();
});

it('deletes records that expired, and the oldest of too many', async () => {
  const scene = await newScene();
  const learnMore = async (line: string, settings: ResolveScene['settings']) => {
    scene.restarted(settings);
    git(scene.top, 'branch', `more-${line}`, 'before~1');
    scene.commit(`more-${line}`, { 'a.txt': text({ 4: `${line}\n` }) });
    scene.mergeInto(`more-${line}`, 'main', [], { 'a.txt': text({ 4: `${line} and ours\n` }) });
    await scene.resolving.learn({ onto: scene.tip('main'), head: scene.tip(`more-${line}`) });
  };
  const { resolutions: limits } = defaultPolicy;
  const [first = ''] = readdirSync(scene.memory);
  await learnMore('x', { memory: { ...limits, pairs: 2 } });
  expect(readdirSync(scene.memory)).toHaveLength(2);
  const long = new Date(Date.now() - limits.ageMs / 2);
  utimesSync(path.join(scene.memory, first), long, long);
  await learnMore('y', { memory: { ...limits, pairs: 2 } });
  expect(readdirSync(scene.memory)).toHaveLength(2);
  expect(readdirSync(scene.memory)).not.toContain(first);
  const [some = ''] = readdirSync(scene.memory);
  const longer = new Date(Date.now() - limits.ageMs - 1000);
  utimesSync(path.join(scene.memory, some), longer, longer);
  await learnMore('z', {});
  expect(readdirSync(scene.memory)).toHaveLength(2);
  expect(readdirSync(scene.memory)).not.toContain(some);
  await learnMore('large', { memory: { ...limits, bytesPerFile: 10 } });
  expect(readdirSync(scene.memory)).toHaveLength(2);
});
