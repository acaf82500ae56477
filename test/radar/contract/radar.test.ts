/** The conflict radar in real repositories: what it says of two branches is what git makes of them. */

import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import { lastSighting, refreshRadar } from '../../../packages/copse/src/radar/radar.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { decideCancel } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { git, newArea } from '../../support/cli.ts';
import { type Files, text } from '../../support/queue/merging.ts';
import { RadarScene } from '../../support/queue/radar.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();

const BASE: Files = {
  'a.txt': text(),
  'b.txt': text({ 3: 'b\n' }),
  'dir/one.txt': text({ 1: 'one\n' }),
  'dir/sub/two.txt': text({ 2: 'two\n' }),
  bin: Buffer.from([0, 1, 2]),
  tool: '#!/bin/sh\n',
};

interface Vector {
  readonly one: Files;
  readonly other: Files;
  readonly kind: 'apart' | 'overlap' | 'conflict';
  readonly files?: readonly string[];
}

const moved = { 'dir/one.txt': null, 'new dir/one.txt': BASE['dir/one.txt']! } as const;

const vectors: Readonly<Record<string, Vector>> = {
  'other files': { one: { 'a.txt': 'x\n' }, other: { 'b.txt': 'y\n' }, kind: 'apart' },
  'the same line': {
    one: { 'a.txt': text({ 3: 'x\n' }) },
    other: { 'a.txt': text({ 3: 'y\n' }) },
    kind: 'conflict',
    files: ['a.txt'],
  },
  'lines next to each other': {
    one: { 'a.txt': text({ 3: 'x\n' }) },
    other: { 'a.txt': text({ 4: 'y\n' }) },
    kind: 'conflict',
    files: ['a.txt'],
  },
  'lines far from each other': {
    one: { 'a.txt': text({ 1: 'x\n' }) },
    other: { 'a.txt': text({ 10: 'y\n' }) },
    kind: 'overlap',
    files: ['a.txt'],
  },
  'one file in two of many places': {
    one: { 'a.txt': text({ 1: 'x\n' }), 'b.txt': 'x\n', 'x ü\n.txt': 'x' },
    other: { 'a.txt': text({ 10: 'y\n' }), 'b.txt': 'y\n', 'y.txt': 'y' },
    kind: 'conflict',
    files: ['b.txt'],
  },
  'a file that one deletes and the other changes': {
    one: { 'a.txt': null },
    other: { 'a.txt': text({ 1: 'y\n' }) },
    kind: 'conflict',
    files: ['a.txt'],
  },
  'a file that one renames and the other changes': {
    one: { 'a.txt': null, 'c.txt': text() },
    other: { 'a.txt': text({ 1: 'y\n' }) },
    kind: 'overlap',
    files: ['a.txt'],
  },
  'a file that both rename': {
    one: { 'a.txt': null, 'c.txt': text() },
    other: { 'a.txt': null, 'd.txt': text() },
    kind: 'conflict',
  },
  'a name that one renames a file to and the other gives to a new one': {
    one: { 'a.txt': null, 'c.txt': text() },
    other: { 'c.txt': 'new\n' },
    kind: 'conflict',
    files: ['c.txt'],
  },
  'a folder that one renames, and a new file in it': {
    one: { ...moved, 'dir/sub/two.txt': null, 'new dir/sub/two.txt': BASE['dir/sub/two.txt']! },
    other: { 'dir/three.txt': 'three\n' },
    kind: 'conflict',
  },
  'a folder inside one that goes, and a new file in it': {
    one: { 'dir/sub/two.txt': null, 'dir/lower/two.txt': BASE['dir/sub/two.txt']! },
    other: { 'dir/sub/three.txt': 'three\n' },
    kind: 'conflict',
  },
  'a folder of which one moves only a part, and a new file in it': {
    one: moved,
    other: { 'dir/three.txt': 'three\n' },
    kind: 'apart',
  },
  'a file where the other has a folder': {
    one: { place: 'file\n' },
    other: { 'place/inside.txt': 'x\n' },
    kind: 'conflict',
  },
  'binary files': {
    one: { bin: Buffer.from([0, 9]) },
    other: { bin: Buffer.from([0, 8]) },
    kind: 'conflict',
    files: ['bin'],
  },
  'the mode of a file and its content': {
    one: { tool: { program: '#!/bin/sh\n' } },
    other: { tool: '#!/bin/sh\ntrue\n' },
    kind: 'overlap',
    files: ['tool'],
  },
  'the same in both': {
    one: { 'a.txt': text({ 3: 'same\n' }) },
    other: { 'a.txt': text({ 3: 'same\n' }) },
    kind: 'overlap',
    files: ['a.txt'],
  },
};

describe.each(Object.entries(vectors))(
  'two branches that change %s',
  (_name, { one, other, kind, files }) => {
    it(`are ${kind}, as git says, and nothing is left behind`, async () => {
      const scene = await RadarScene.open(area, BASE);
      const tasks = [await scene.branch(one), await scene.branch(other)] as const;
      const before = scene.objects();
      const found = await scene.between(...tasks);
      expect(scene.objects()).toEqual(before);
      expect(found.kind).toBe(kind);
      if (kind === 'apart') expect(scene.trials).toEqual([]);
      if (files !== undefined) expect(found.files).toEqual(files);
      expect(scene.canMerge(...tasks)).toBe(kind !== 'conflict');
    });
  },
);

it('of three branches each pair is judged separately', async () => {
  const scene = await RadarScene.open(area, BASE);
  const a = await scene.branch({ 'a.txt': text({ 1: 'a\n' }) });
  const b = await scene.branch({ 'a.txt': text({ 1: 'b\n' }), 'b.txt': text({ 3: 'b\n', 10: 'b\n' }) });
  const c = await scene.branch({ 'b.txt': text({ 3: 'b\n', 0: 'c\n' }) });
  expect(await scene.between(a, b)).toMatchObject({ kind: 'conflict', files: ['a.txt'] });
  expect(await scene.between(b, c)).toMatchObject({ kind: 'overlap', files: ['b.txt'] });
  expect(await scene.between(a, c)).toEqual({ kind: 'apart' });
  expect(scene.trials).toHaveLength(2);
});

it('a branch that builds on another does not conflict with it', async () => {
  const scene = await RadarScene.open(area, BASE);
  const below = await scene.branch({ 'a.txt': text({ 1: 'a\n' }) });
  const above = await scene.branch({});
  git(
    scene.project.worktree(above),
    'merge',
    '--quiet',
    git(scene.project.worktree(below), 'rev-parse', 'HEAD'),
  );
  scene.commit(above, { 'a.txt': text({ 1: 'a\n', 2: 'more\n' }) });
  expect(await scene.between(below, above)).toEqual({ kind: 'apart' });
});

it('a conflict with the target does not count as one with a branch that contains the target’s change', async () => {
  const scene = await RadarScene.open(area, BASE);
  const old = await scene.branch({ 'a.txt': text({ 1: 'old\n' }), 'b.txt': text({ 3: 'b\n', 10: 'old\n' }) });
  scene.commitOnMain({ 'a.txt': text({ 1: 'landed\n' }) });
  const young = await scene.branch({ 'b.txt': text({ 3: 'b\n', 0: 'young\n' }) });
  const clash = await scene.branch({ 'b.txt': text({ 3: 'b\n', 10: 'clash\n' }) });
  expect(await scene.between(old, young)).toMatchObject({ kind: 'overlap', files: ['b.txt'] });
  expect(await scene.between(old, clash)).toMatchObject({ kind: 'conflict', files: ['b.txt'] });
});

it('work that landed since a branch began is not its own', async () => {
  const scene = await RadarScene.open(area, BASE);
  const one = await scene.branch({ 'a.txt': text({ 1: 'one\n' }) });
  scene.commitOnMain({ 'a.txt': text({ 10: 'landed\n' }) });
  const other = await scene.branch({ 'b.txt': 'other\n' });
  expect(await scene.between(one, other)).toEqual({ kind: 'apart' });
  expect(scene.trials).toEqual([]);
});

it('a branch that cannot be read is reported, and the others are compared', async () => {
  const scene = await RadarScene.open(area, BASE);
  const one = await scene.branch({ 'a.txt': text({ 1: 'one\n' }) });
  const broken = await scene.branch({ 'a.txt': text({ 1: 'broken\n' }) });
  const other = await scene.branch({ 'a.txt': text({ 1: 'other\n' }) });
  const tree = git(scene.project.worktree(broken), 'rev-parse', 'HEAD^{tree}');
  rmSync(path.join(scene.folder, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
  const { sighting, problems } = await scene.look();
  expect(problems).toEqual([expect.stringContaining(`Cannot read ${broken}/do-it`)]);
  expect(sighting.pairs).toMatchObject([{ tasks: [one, other].toSorted(), verdict: { kind: 'conflict' } }]);
  expect(await scene.look()).toMatchObject({ isNew: false, problems: [{}] });
});

it('a pair that cannot be merged is reported and stays unknown, and the others are judged', async () => {
  const scene = await RadarScene.open(area, BASE);
  const tasks = [
    await scene.branch({ 'a.txt': '1' }),
    await scene.branch({ 'a.txt': '2' }),
    await scene.branch({ 'a.txt': '3' }),
  ];
  const tip = git(scene.project.worktree(tasks[0]!), 'rev-parse', 'HEAD');
  const { merging } = scene.context;
  const failing: typeof merging = {
    trial: (...pair) =>
      pair.includes(tip as never) ? Promise.reject(new Error('no memory')) : merging.trial(...pair),
  };
  const look = await refreshRadar({ ...scene.context, merging: failing });
  expect(look?.problems).toHaveLength(2);
  expect(look?.sighting.pairs.map(({ verdict }) => verdict.kind)).toEqual(['conflict', 'pending', 'pending']);
  expect((await scene.look()).sighting.pairs.map(({ verdict }) => verdict.kind)).toEqual([
    'conflict',
    'conflict',
    'conflict',
  ]);
});

it('uncommitted changes, branches without commits and tasks that are over do not count', async () => {
  const scene = await RadarScene.open(area, BASE);
  const one = await scene.branch({ 'a.txt': text({ 1: 'one\n' }) });
  const idle = await scene.branch({});
  writeFileSync(path.join(scene.project.worktree(idle), 'a.txt'), 'uncommitted\n');
  const over = await scene.branch({ 'a.txt': text({ 1: 'over\n' }) });
  expect(await scene.between(one, over)).toMatchObject({ kind: 'conflict' });
  must(
    await change(scene.project.context, async (change) => {
      const task = await change.require('task', over);
      await change.apply(decideCancel(task, undefined, null, change.at));
    }),
  );
  const { sighting } = await scene.look();
  expect(sighting.pairs).toEqual([]);
  expect(sighting.branches.map(({ task }) => task)).toEqual([one, idle].toSorted());
});

describe('a repeated comparison', () => {
  const same = (line: string): Files => ({ 'a.txt': text({ 1: `${line}\n` }) });

  async function newScene() {
    const scene = await RadarScene.open(area, BASE);
    const tasks = [
      await scene.branch(same('one')),
      await scene.branch(same('two')),
      await scene.branch(same('3')),
    ];
    return { scene, tasks: tasks as [TaskId, TaskId, TaskId] };
  }

  const take = (scene: RadarScene) => scene.trials.splice(0).length;

  it('merges only pairs with a moved branch, and none when none moved', async () => {
    const { scene, tasks } = await newScene();
    expect((await scene.look()).isNew).toBe(true);
    expect(take(scene)).toBe(3);
    expect((await scene.look()).isNew).toBe(false);
    expect(take(scene)).toBe(0);
    scene.commit(tasks[0], same('moved'));
    const { sighting } = await scene.look();
    expect(take(scene)).toBe(2);
    expect(sighting.pairs.map(({ verdict }) => verdict.kind)).toEqual(['conflict', 'conflict', 'conflict']);
    scene.commit(tasks[0], { ...BASE, 'elsewhere.txt': 'x' });
    expect((await scene.look()).sighting.pairs).toMatchObject([{ tasks: tasks.slice(1).toSorted() }]);
    expect(take(scene)).toBe(0);
  });

  it('continues with pairs that did not fit into one pass, and reports how many are left', async () => {
    const { scene } = await newScene();
    const counts = async () => {
      const { sighting } = await scene.look({ mostTrials: 1 });
      return sighting.pairs.filter(({ verdict }) => verdict.kind === 'pending').length;
    };
    expect([await counts(), await counts(), await counts()]).toEqual([2, 1, 0]);
    expect(take(scene)).toBe(3);
  });

  it('keeps the time since when a conflict is there', async () => {
    const { scene, tasks } = await newScene();
    const since = async () => (await scene.look()).sighting.pairs.map((pair) => pair.since).toSorted();
    const before = await since();
    scene.commit(tasks[0], same('moved'));
    expect(await since()).toEqual(before);
  });

  it('shows a pair that moved since as not compared yet, and no deleted branch', async () => {
    const { scene, tasks } = await newScene();
    await scene.look();
    const read = () => lastSighting(scene.context.radar)?.pairs.map(({ verdict }) => verdict.kind);
    expect(read()).toEqual(['conflict', 'conflict', 'conflict']);
    git(scene.folder, 'pack-refs', '--all');
    expect(read()).toEqual(['conflict', 'conflict', 'conflict']);
    scene.commit(tasks[0], same('moved'));
    expect(read()?.toSorted()).toEqual(['conflict', 'pending', 'pending']);
    git(scene.project.worktree(tasks[1]), 'switch', '--quiet', '--detach');
    git(scene.folder, 'branch', '--quiet', '-D', `${tasks[1]}/do-it`);
    expect(read()).toEqual(['pending']);
  });

  it.each([
    ['empty', ''],
    ['cut', '{"version":2,"branches":[{"ta'],
    ['of another version', '{"version":99,"branches":[],"pairs":[],"isWhole":true,"at":1,"omitted":0}'],
    ['a list', '[]'],
    [
      'of another shape',
      '{"version":2,"at":1,"omitted":0,"isWhole":true,"branches":[{"task":"cp-1","branch":"\\u0000","tip":"1"}],"pairs":[{"tasks":["cp-1"],"tips":[],"verdict":{"kind":"fine"},"since":"x"}]}',
    ],
    ['full of nothing', '{"version":2,"at":1,"omitted":0,"isWhole":true,"branches":[null],"pairs":[3]}'],
  ])('compares everything again when its file is %s', async (_what, content) => {
    const { scene } = await newScene();
    const { sighting } = await scene.look();
    take(scene);
    for (const name of ['radar', 'radar-memory']) {
      writeFileSync(path.join(scene.folder, '.copse', `${name}.json`), content);
      expect(() => lastSighting(scene.context.radar)).not.toThrow();
      const again = await scene.look();
      expect(again.sighting.pairs.map(({ tasks, verdict }) => ({ tasks, verdict }))).toEqual(
        sighting.pairs.map(({ tasks, verdict }) => ({ tasks, verdict })),
      );
      expect(take(scene)).toBe(name === 'radar' ? 0 : 3);
      const kept = readFileSync(path.join(scene.folder, '.copse', `${name}.json`), 'utf8');
      expect(JSON.parse(kept)).toMatchObject({ version: 2, branches: [{}, {}, {}], pairs: [{}, {}, {}] });
    }
  });

  it('compares everything again when its file was deleted, and leaves no other files', async () => {
    const { scene } = await newScene();
    await scene.look();
    const folder = path.join(scene.folder, '.copse');
    for (const name of ['radar', 'radar-memory']) rmSync(path.join(folder, `${name}.json`));
    expect(lastSighting(scene.context.radar)).toBeUndefined();
    expect((await scene.look()).sighting.pairs).toHaveLength(3);
    expect(
      readdirSync(folder)
        .filter((name) => name.startsWith('radar'))
        .toSorted(),
    ).toEqual(['radar-memory.json', 'radar.json']);
  });

  it.each(['sighting', 'memory'] as const)(
    'keeps nothing stale when the %s could not be written',
    async (which) => {
      const { scene, tasks } = await newScene();
      await scene.look();
      scene.commit(tasks[0], { ...BASE });
      const { radar } = scene.context;
      const full = () => {
        throw new Error('The disk is full');
      };
      const failing = { ...scene.context, radar: { ...radar, [which]: { ...radar[which], save: full } } };
      await expect(refreshRadar(failing)).rejects.toThrow('full');
      const { sighting } = await scene.look();
      expect(sighting.pairs).toMatchObject([{ tasks: tasks.slice(1).toSorted() }]);
      expect(lastSighting(radar)?.pairs).toEqual(sighting.pairs);
    },
  );

  it('is done by one process at a time', async () => {
    const { scene } = await newScene();
    const [first, second] = await Promise.all([scene.look(), refreshRadar(scene.context)]);
    expect(first.sighting.pairs).toHaveLength(3);
    expect(second).toBeUndefined();
    expect(await refreshRadar(scene.context, { patienceMs: 10_000 })).toMatchObject({ isNew: false });
  });

  it('merges a branch with every other if it changes more files than are listed', async () => {
    const { scene, tasks } = await newScene();
    const many = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`many/${at}`, 'x']));
    const wide = await scene.branch({ ...many, ...same('wide') });
    const away = await scene.branch({ 'b.txt': 'away\n' });
    const { policy } = scene.context;
    const narrow = { ...scene.context, policy: { ...policy, radar: { ...policy.radar, pathsPerBranch: 5 } } };
    const look = await refreshRadar(narrow);
    const ids = look?.sighting.pairs
      .filter((pair) => pair.tasks.includes(wide))
      .flatMap((pair) => pair.tasks);
    expect(new Set(ids)).toEqual(new Set([wide, ...tasks]));
    expect(ids).not.toContain(away);
    expect(take(scene)).toBe(3 + 4);
  });
});
