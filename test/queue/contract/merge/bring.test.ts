/** When candidates come into the repository, how, and that nothing points at them before they are on the disk. */

import { execFileSync, spawnSync } from 'node:child_process';
import fs, { existsSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { type BranchName, type CommitId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, plainEnv } from '../../../support/cli.ts';

const area = newArea();

/** What happened to files, in order. Patched before anybody else has these functions. */
const happened: string[] = [];
let onSync: () => void = () => {};
const names = new Map<number, string>();
const real = { ...fs };
fs.openSync = (...argv) => {
  const opened = real.openSync(...argv);
  names.set(opened, String(argv[0]));
  return opened;
};
fs.fsyncSync = (opened) => {
  real.fsyncSync(opened);
  happened.push(`synced ${names.get(opened)}`);
  onSync();
};
fs.fsync = Object.assign(
  (opened: number, done: fs.NoParamCallback) =>
    real.fsync(opened, (error) => {
      happened.push(`synced ${names.get(opened)}`);
      onSync();
      done(error);
    }),
  { __promisify__: real.fsync.__promisify__ },
);
fs.renameSync = (from, to) => {
  real.renameSync(from, to);
  happened.push(`renamed ${String(from)} to ${String(to)}`);
};
syncBuiltinESMExports();

const { MergeScene } = await import('../../../support/queue/merging.ts');
const { Quarantine } = await import('../../../../packages/copse/src/git/objects/quarantine.ts');

afterEach(() => {
  onSync = () => {};
});

function isThere(top: string, commit: CommitId): boolean {
  return spawnSync('git', ['cat-file', '-e', commit], { cwd: top, env: plainEnv }).status === 0;
}

function packsOf(top: string): number {
  const folder = path.join(top, '.git', 'objects', 'pack');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.idx')).length : 0;
}

const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);

/** One on another, so many of them. */
async function newStack(count: number): Promise<{
  readonly scene: InstanceType<typeof MergeScene>;
  readonly from: CommitId;
  readonly commits: readonly CommitId[];
}> {
  const scene = new MergeScene(area);
  scene.commit('main', { 'deep/er/shared.txt': `${lines.join('\n')}\n` });
  for (let at = 0; at < count; at += 1) {
    // Every third changes a file that others change, so that git has something to merge.
    const shared = at % 3 === 0 ? { 'deep/er/shared.txt': changed(at) } : {};
    scene.commit(`task-${at}`, { [`deep/er/${at}.txt`]: `${at}\n`, ...shared });
    scene.commit(`task-${at}`, { [`top-${at}.txt`]: `${at}\n` });
  }
  scene.commit('main', { 'other.txt': 'other\n' });
  const from = scene.tip('main');
  const commits: CommitId[] = [];
  for (let at = 0; at < count; at += 1) {
    const onto = commits.at(-1) ?? from;
    const built = await scene.merging.build(scene.request(`task-${at}`, { onto }));
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    commits.push(built.commit);
  }
  return { scene, from, commits };
}

function changed(at: number): string {
  return `${lines.with(at, `by task ${at}`).join('\n')}\n`;
}

it('a candidate is not in the repository until it is needed', async () => {
  const { scene, commits } = await newStack(3);
  const before = git(scene.top, 'count-objects', '-v');
  expect(commits.map((commit) => isThere(scene.top, commit))).toEqual([false, false, false]);
  await scene.merging.bring(commits[1]!);
  expect(commits.map((commit) => isThere(scene.top, commit))).toEqual([true, true, false]);
  expect(git(scene.top, 'ls-tree', '-r', '--name-only', commits[1]!)).toContain('top-1.txt');
  expect(git(scene.top, 'count-objects', '-v')).not.toBe(before);
  // The third was never brought, and the engine still knows it.
  expect(await scene.merging.treeOf(commits[2]!)).toMatch(/^[0-9a-f]{40}$/);
  git(scene.top, 'update-ref', 'refs/heads/kept', commits[1]!);
  expect(git(scene.top, 'fsck', '--full', '--unreachable')).toBe('');
});

it('a few objects become files, and many become one pack, with the same history', async () => {
  const few = await newStack(2);
  await few.scene.merging.bring(few.commits.at(-1)!);
  expect(packsOf(few.scene.top)).toBe(0);

  const { scene, from, commits } = await newStack(20);
  const loose = git(scene.top, 'count-objects');
  const [target, to] = [brand<BranchName>('main'), commits.at(-1)!];
  expect(await scene.merging.moveTarget({ target, from, to })).toEqual({ kind: 'moved' });
  expect(packsOf(scene.top)).toBe(1);
  expect(git(scene.top, 'count-objects')).toBe(loose);
  expect(git(scene.top, 'rev-list', '--count', `${from}..main`)).toBe('40');
  expect(git(scene.top, 'fsck', '--full', '--strict', '--unreachable')).toBe('');
  const shared = git(scene.top, 'show', 'main:deep/er/shared.txt');
  for (const at of [0, 3, 6, 9, 12, 15, 18]) expect(shared).toContain(`by task ${at}\n`);
  // Asked for once more, there is nothing to do.
  await scene.merging.bring(to);
  expect(packsOf(scene.top)).toBe(1);
});

// promise: durable-before-ref
it.each([2, 20])(
  'of %i candidates, all objects are synced before they are renamed, and before the target moves',
  async (count) => {
    const { scene, from, commits } = await newStack(count);
    const tips = new Set<string>();
    onSync = () =>
      tips.add(
        execFileSync('git', ['rev-parse', 'main'], {
          cwd: scene.top,
          env: plainEnv,
          encoding: 'utf8',
        }).trim(),
      );
    happened.length = 0;
    await scene.merging.moveTarget({ target: brand<BranchName>('main'), from, to: commits.at(-1)! });
    onSync = () => {};
    expect([...tips]).toEqual([from]);

    const store = path.join(scene.top, '.git', 'objects');
    const named = happened.flatMap((line) => {
      const [, source = '', place = ''] = /^renamed (.+) to (.+)$/.exec(line) ?? [];
      return place.startsWith(store) ? [source] : [];
    });
    expect(named.length).toBeGreaterThan(count < 10 ? 5 : 1);
    for (const source of named) expect(happened.indexOf(`synced ${source}`)).toBeGreaterThan(-1);
    for (const source of named)
      expect(happened.indexOf(`synced ${source}`)).toBeLessThan(
        happened.findIndex((line) => line.startsWith(`renamed ${source} `)),
      );
  },
);

it('the objects of candidates are still known after the temporary store was emptied', async () => {
  const scene = new MergeScene(area);
  const quarantine = new Quarantine(scene.dir);
  await quarantine.open();
  const onto = scene.tip('main');
  const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
    cwd: scene.top,
    env: { ...plainEnv, ...quarantine.env },
    input: 'merged by a git\n',
    encoding: 'utf8',
  }).trim();
  const entry = Buffer.concat([Buffer.from('100644 a.txt\0'), Buffer.from(blob, 'hex')]);
  const tree = quarantine.write('tree', entry);
  const who = 'A <a@b> 1700000000 +0000';
  const commit = brand<CommitId>(
    quarantine.write(
      'commit',
      Buffer.from(`tree ${tree}\nparent ${onto}\nauthor ${who}\ncommitter ${who}\n\nc\n`),
    ),
  );
  quarantine.write('tree', Buffer.concat([entry, entry]));
  await quarantine.adopt(commit, { onto, ids: [blob, tree, commit] }, async () => []);
  quarantine.flush();
  quarantine.empty();
  expect([blob, tree, commit].map((id) => quarantine.find(id)?.type)).toEqual(['blob', 'tree', 'commit']);
  // A git that comes later finds it, too.
  quarantine.flush();
  const seen = spawnSync('git', ['ls-tree', commit], {
    cwd: scene.top,
    env: { ...plainEnv, ...quarantine.readingEnv },
    encoding: 'utf8',
  });
  expect(seen.stdout).toContain('a.txt');
  await quarantine.bring(commit);
  expect(git(scene.top, 'show', `${commit}:a.txt`)).toBe('merged by a git');
  quarantine.close();
  git(scene.top, 'update-ref', 'refs/heads/kept', commit);
  expect(git(scene.top, 'fsck', '--full', '--unreachable')).toBe('');
});

it('a dropped candidate takes no memory, unless another one was built on it', async () => {
  const scene = new MergeScene(area);
  const quarantine = new Quarantine(scene.dir);
  await quarantine.open();
  // The files of all of them.
  execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: scene.top, env: plainEnv, input: '' });
  const first = await adopted(quarantine, scene.tip('main'), 'first');
  const second = await adopted(quarantine, first, 'second');
  const other = await adopted(quarantine, scene.tip('main'), 'other');
  const before = quarantine.heldBytes;
  // Asked for before, so it comes into the repository all the same.
  const bringing = quarantine.bring(other);
  await quarantine.drop([first, other]);
  expect((await bringing).map(({ id }) => id)).toContain(other);
  expect(quarantine.heldBytes).toBe((before * 2) / 3);
  await quarantine.bring(second);
  expect([first, second, other].map((commit) => isThere(scene.top, commit))).toEqual([true, true, true]);
  expect(quarantine.heldBytes).toBe(0);

  const [third, fourth] = [
    await adopted(quarantine, second, 'third'),
    await adopted(quarantine, second, 'x'),
  ];
  await quarantine.drop([third, fourth]);
  expect(quarantine.heldBytes).toBe(0);
  await quarantine.bring(third);
  expect(isThere(scene.top, third)).toBe(false);
  quarantine.close();
  for (const commit of [second, other]) git(scene.top, 'update-ref', `refs/heads/${commit}`, commit);
  expect(git(scene.top, 'fsck', '--full', '--unreachable')).toBe('');
});

/** All of one size. */
async function adopted(
  quarantine: InstanceType<typeof Quarantine>,
  onto: CommitId,
  name: string,
): Promise<CommitId> {
  const empty = Buffer.from('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391', 'hex');
  const tree = quarantine.write(
    'tree',
    Buffer.concat([Buffer.from(`100644 ${name.padEnd(6, '-')}\0`), empty]),
  );
  const who = 'A <a@b> 1700000000 +0000';
  const text = `tree ${tree}\nparent ${onto}\nauthor ${who}\ncommitter ${who}\n\nc\n`;
  const commit = brand<CommitId>(quarantine.write('commit', Buffer.from(text)));
  await quarantine.adopt(commit, { onto, ids: [tree, commit] }, async () => []);
  return commit;
}

it('merging continues after the temporary store was deleted', async () => {
  const { scene, from, commits } = await newStack(4);
  const place = path.dirname(new Quarantine(scene.dir).folder);
  const own = readdirSync(place).filter((name) => name.startsWith(`copse-merging-${process.pid}-`));
  expect(own.length).toBeGreaterThan(0);
  for (const name of own) rmSync(path.join(place, name), { recursive: true });
  // It merges a file that was merged before, into something that only the store had.
  scene.commit('late', { 'deep/er/shared.txt': changed(20), 'late.txt': 'late\n' });
  const built = await scene.merging.build(scene.request('late', { onto: commits.at(-1)! }));
  if (built.kind !== 'built') throw new Error(JSON.stringify(built));
  const target = brand<BranchName>('main');
  expect(await scene.merging.moveTarget({ target, from, to: built.commit })).toEqual({ kind: 'moved' });
  const shared = git(scene.top, 'show', 'main:deep/er/shared.txt');
  for (const at of [0, 3, 20]) expect(shared).toContain(`by task ${at}\n`);
  expect(git(scene.top, 'fsck', '--full', '--unreachable')).toBe('');
  expect(readdirSync(place).filter((name) => own.includes(name))).not.toEqual([]);
});
