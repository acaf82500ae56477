import { mkdirSync, readdirSync, lstatSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { type Judgement, type Replayed, isFailure, judge } from '../../../bench/replay/judge.ts';
import { replay } from '../../../bench/replay/replay.ts';
import { git, newArea } from '../../support/cli.ts';
import { BASE, type Files, MergeScene, text } from '../../support/queue/merging.ts';

const area = newArea();

describe('merges of plain git, repeated', () => {
  it('have git’s result, or conflict when git does', async () => {
    const scene = new MergeScene(area);
    const expected = makeMerges(scene);
    const before = listing(scene.top);
    const folder = path.join(area, 'replay');
    mkdirSync(folder);
    const { judgements, failures, notCompared, merges } = await replay(scene.top, {
      area: folder,
      from: 'main',
    });
    expect({ failures, notCompared }).toEqual({ failures: [], notCompared: [] });
    const found = [...expected].map(([commit, { name }]) => [name, judgements.get(commit)]);
    expect(found).toEqual([...expected.values()].map(({ name, judgement }) => [name, judgement]));
    expect(merges).toBe(judgements.size);
    expect(merges).toBeGreaterThan(expected.size);
    expect(listing(scene.top)).toEqual(before);
  });
});

describe('a repeated merge', () => {
  const merged = (tree: string) => ({ is: 'merged', tree }) as const;
  const conflict = { is: 'conflict' } as const;
  const unrelated = { is: 'unrelated' } as const;
  const reverts = { is: 'reverts' } as const;
  it.each<[string, Omit<Replayed, 'isBranchEvil'> & { readonly isBranchEvil?: boolean }]>([
    ['another tree than git makes', { real: 'a', plain: merged('a'), ours: merged('b') }],
    ['what was committed, though git makes another', { real: 'b', plain: merged('a'), ours: merged('b') }],
    ['a conflict that git does not have', { real: 'a', plain: merged('a'), ours: conflict }],
    ['no conflict where git has one', { real: 'a', plain: conflict, ours: merged('a') }],
    ['refused, though no merge of the branch is evil', { real: 'a', plain: merged('a'), ours: reverts }],
    ['no common commit, though git finds one', { real: 'a', plain: merged('a'), ours: unrelated }],
    ['merged, though there is no common commit', { real: 'a', plain: unrelated, ours: merged('a') }],
  ])('fails when it is %s', (_, replayed) => {
    expect(isFailure(judge({ isBranchEvil: false, ...replayed }))).toBe(true);
  });
});

interface Expected {
  readonly name: string;
  readonly judgement: Judgement;
}

type Case = readonly [name: string, main: Files, side: Files, judgement: Judgement, resolve?: Files];

const same = 'same as committed';
const conflict = 'same conflict';
const otherwise = 'same as git, committed otherwise';
const link = (to: string) => ({ link: to });

const CASES: readonly Case[] = [
  ['files of their own', { 'm.txt': 'm\n' }, { 's.txt': 's\n' }, same],
  ['lines of their own', { 'a.txt': text({ 0: 'main\n' }) }, { 'a.txt': text({ 11: 'side\n' }) }, same],
  ['the same lines', { 'b.txt': 'main\n' }, { 'b.txt': 'side\n' }, conflict, { 'b.txt': 'both\n' }],
  ['the same change', { 'same.txt': 'x\n' }, { 'same.txt': 'x\n' }, same],
  [
    'a rename and a change',
    { 'dir/c.txt': null, 'dir/moved.txt': text({ 3: 'c\n' }) },
    { 'dir/c.txt': text({ 3: 'c\n', 9: 'side\n' }) },
    same,
  ],
  [
    'a change and a rename',
    { 'dir/moved.txt': text({ 3: 'c\n', 9: 'side\n', 0: 'main\n' }) },
    { 'dir/moved.txt': null, 'c.txt': text({ 3: 'c\n', 9: 'side\n' }) },
    same,
  ],
  [
    'two names for one file',
    { 'c.txt': null, 'c-main.txt': text({ 3: 'c\n', 9: 'side\n', 0: 'main\n' }) },
    { 'c.txt': null, 'c-side.txt': text({ 3: 'c\n', 9: 'side\n', 0: 'main\n' }) },
    conflict,
    { 'c-side.txt': null },
  ],
  ['a folder', { 'old/1': text({ 1: 'one\n' }), 'old/2': text({ 2: 'two\n' }) }, { 'x/y/z': 'z\n' }, same],
  [
    'a folder that was renamed, and a new file in it',
    { 'old/1': null, 'old/2': null, 'new/1': text({ 1: 'one\n' }), 'new/2': text({ 2: 'two\n' }) },
    { 'old/3': 'three\n' },
    conflict,
  ],
  ['bytes that one changed', { bin: Buffer.from([9, 0, 9]) }, { 's2.txt': 's\n' }, same],
  [
    'bytes that both changed',
    { bin: Buffer.from([1, 0, 1]) },
    { bin: Buffer.from([2, 0, 2]) },
    conflict,
    { bin: Buffer.from([3, 0, 3]) },
  ],
  ['a mode and a change', { tool: { program: '#!/bin/sh\n' } }, { tool: '#!/bin/sh\nexit 1\n' }, same],
  ['a change of what was deleted', { 'm.txt': null }, { 'm.txt': 'm\nmore\n' }, conflict, { 'm.txt': null }],
  ['a link and a file of one name', { l: link('a.txt') }, { l: 'text\n' }, conflict, { l: 'text\n' }],
  [
    'other ends of lines',
    { 'crlf.txt': text({ 0: 'main\n' }).replaceAll('\n', '\r\n') },
    { 'crlf.txt': text({ 11: 'side\n' }).replaceAll('\n', '\r\n') },
    same,
  ],
  ['a folder where a file was', { 's.txt': null, 's.txt/in': 'in\n' }, { 's3.txt': 's\n' }, same],
  ['what was added on the way', { 'm4.txt': 'm\n' }, { 's4.txt': 's\n' }, otherwise, { 'own.txt': 'own\n' }],
  ['what was dropped on the way', { 'm5.txt': 'm\n' }, { 's5.txt': 's\n' }, otherwise, { 's5.txt': null }],
];

/** By the commit of each merge. */
function makeMerges(scene: MergeScene): ReadonlyMap<string, Expected> {
  const made = new Map<string, Expected>();
  scene.commit('main', BASE);
  for (const [at, [name, main, side, judgement, resolve]] of CASES.entries()) {
    scene.commit(`side-${at}`, side);
    scene.commit('main', main);
    made.set(scene.mergeInto('main', `side-${at}`, [], resolve), { name, judgement });
  }
  made.set(mergeWithoutNews(scene), { name: 'a side that only went on', judgement: same });
  made.set(mergeModules(scene), { name: 'a submodule that one moved', judgement: same });
  made.set(mergeAcross(scene), { name: 'two that merged each other', judgement: same });
  made.set(mergeSubtree(scene), { name: 'another project', judgement: 'no common commit' });
  made.set(mergeDropped(scene), {
    name: 'a branch that drops what it merged',
    judgement: 'refused, for the branch takes back',
  });
  made.set(mergeByAttribute(scene), { name: 'lines of both, by attribute', judgement: same });
  return made;
}

function mergeWithoutNews(scene: MergeScene): string {
  scene.commit('ahead', { 'ahead.txt': 'a\n' });
  return scene.mergeInto('main', 'ahead');
}

function mergeModules(scene: MergeScene): string {
  scene.commit('module', { 'beside.txt': 'b\n' });
  pointModule(scene, scene.tip('main~1'));
  scene.mergeInto('main', 'module');
  pointModule(scene, scene.tip('main'));
  scene.commit('main', { 'beside-main.txt': 'b\n' });
  return scene.mergeInto('main', 'module');
}

function pointModule(scene: MergeScene, commit: string): void {
  git(scene.desk, 'checkout', '--quiet', '--detach', 'module');
  git(scene.desk, 'update-index', '--add', '--cacheinfo', `160000,${commit},module`);
  git(scene.desk, 'commit', '--quiet', `--message=module at ${commit}`);
  git(scene.desk, 'update-ref', 'refs/heads/module', 'HEAD');
}

/** Each takes the other's first commit, so that there are two merge bases. */
function mergeAcross(scene: MergeScene): string {
  const crossed = text({ 5: 'crossed\n' });
  scene.commit('main', { 'x.txt': text() });
  scene.commit('across', { 'x.txt': crossed });
  scene.commit('main', { 'y.txt': text() });
  git(scene.top, 'branch', 'main-before', 'main');
  scene.mergeInto('main', 'across');
  scene.mergeInto('across', 'main-before');
  scene.commit('main', { 'x.txt': text({ 5: 'crossed\n', 0: 'main\n' }) });
  scene.commit('across', { 'x.txt': text({ 5: 'crossed\n', 11: 'across\n' }) });
  return scene.mergeInto('main', 'across');
}

function mergeSubtree(scene: MergeScene): string {
  const blob = git(scene.top, 'rev-parse', 'main:b.txt');
  git(scene.desk, 'read-tree', '--empty');
  git(scene.desk, 'update-index', '--add', '--cacheinfo', `100644,${blob},part.txt`);
  const root = git(scene.desk, 'commit-tree', '-m', 'another project', git(scene.desk, 'write-tree'));
  git(scene.desk, 'checkout', '--quiet', '--force', '--detach', 'main');
  git(scene.top, 'branch', 'other', root);
  return scene.mergeInto('main', 'other', ['--strategy=ours', '--allow-unrelated-histories'], {
    'vendor/part.txt': 'both\n',
  });
}

function mergeDropped(scene: MergeScene): string {
  scene.commit('dropping', { 'work.txt': 'w\n' });
  scene.commit('main', { 'landed.txt': 'l\n' });
  scene.mergeInto('dropping', 'main', ['--strategy=ours']);
  scene.commit('main', { 'later.txt': 'l\n' });
  return scene.mergeInto('main', 'dropping');
}

function mergeByAttribute(scene: MergeScene): string {
  scene.commit('main', { '.gitattributes': 'log merge=union\n', log: 'first\n' });
  scene.commit('logs', { log: 'first\nside\n' });
  scene.commit('main', { log: 'first\nmain\n' });
  return scene.mergeInto('main', 'logs');
}

/** Every file of a folder, with its size. Git renews the date of objects that it would write again. */
function listing(folder: string): readonly string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => ({ name, stat: lstatSync(path.join(folder, name)) }))
    .filter(({ stat }) => stat.isFile())
    .map(({ name, stat }) => `${name} ${stat.size}`)
    .toSorted();
}
