/** Bringing the objects of an agent's store: whole, verified, and finished by the next look after a kill at any step. */

import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it, vi } from 'vitest';

import { ObjectReader, layStore, storeSteps } from '../../../packages/copse/src/git/objects.ts';
import { removePipes } from '../../../packages/copse/src/git/run/pipes.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { copse, git, newArea, plainEnv } from '../../support/cli.ts';
import { runGit } from '../../support/git/git-shell.ts';
import {
  BRANCH,
  STORE,
  STORE_NAME,
  StoreScene,
  expectClosed,
  expectSound,
} from '../../support/git/store-scene.ts';
import { isLong } from '../../support/long.ts';
import { interruptAt, isInterrupted } from '../../support/workspaces/interrupted.ts';

const area = newArea();
vi.setConfig({ testTimeout: 60_000 });
const worker = fileURLToPath(new URL('../../support/git/store-worker.ts', import.meta.url));

describe('objects of an agent', () => {
  // promise: sandbox-objects
  it('come into the repository whole, and the store is gone', async () => {
    const scene = new StoreScene(area);
    scene.commit({ a: 'a\n', b: 'b\n' });
    expect(() => git(scene.folder, 'log', BRANCH)).toThrow('bad');
    expect(await scene.close()).toEqual([]);
    expectSound(scene);
    expectClosed(scene);
  });

  it('are read by Copse while they are only in the store', async () => {
    const scene = new StoreScene(area);
    const commit = scene.commit({ a: 'a\n' });
    const reader = new ObjectReader(scene.dir);
    try {
      expect(await reader.check([`${BRANCH}^{commit}`])).toMatchObject([{ id: commit }]);
      expect((await reader.read(`${commit}:folder/a`))?.content.toString()).toBe('a\n');
    } finally {
      await reader.close();
    }
    expect(existsSync(scene.new)).toBe(true);
  });

  it('come as one pack when they are many', async () => {
    const scene = new StoreScene(area);
    scene.commit(Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`f${at}`, `${at}\n`])));
    expect(await scene.close()).toEqual([]);
    expect(readdirSync(path.join(scene.objects, 'pack')).some((name) => name.endsWith('.idx'))).toBe(true);
    expectSound(scene);
  });

  it('come when they are large, in the store or once uncompressed', async () => {
    const scene = new StoreScene(area);
    scene.commit({
      ...(isLong && { random: randomBytes(9 * 1024 ** 2) }),
      zeros: Buffer.alloc(33 * 1024 ** 2),
    });
    expect(await scene.close()).toEqual([]);
    expectSound(scene);
    expect(git(scene.folder, 'cat-file', '-s', `${BRANCH}:folder/zeros`)).toBe(String(33 * 1024 ** 2));
  });

  it('are not written again where the repository has them, loose or packed', async () => {
    const scene = new StoreScene(area);
    const hash = (text: string, env: Readonly<Record<string, string>> = {}) =>
      runGit({ cwd: scene.folder, argv: ['hash-object', '-w', '--stdin'], input: text, env })
        .stdout.toString()
        .trim();
    const fileOf = (id: string) => path.join(scene.objects, id.slice(0, 2), id.slice(2));
    const [loose, packed] = [hash('loose\n'), hash('packed\n')];
    const pack = path.join(scene.objects, 'pack', 'pack');
    execFileSync('git', ['pack-objects', '--quiet', pack], {
      cwd: scene.folder,
      input: `${packed}\n`,
      env: plainEnv,
    });
    rmSync(fileOf(packed));
    for (const text of ['loose\n', 'packed\n']) hash(text, { GIT_OBJECT_DIRECTORY: scene.new });
    expect([loose, packed].map((id) => existsSync(scene.fileOf(id)))).toEqual([true, true]);
    const before = statSync(fileOf(loose)).ino;
    expect(await scene.close()).toEqual([]);
    expect(statSync(fileOf(loose)).ino).toBe(before);
    expect(existsSync(fileOf(packed))).toBe(false);
    expectClosed(scene);
  });

  it('survive a person’s garbage collection while it works', async () => {
    const scene = new StoreScene(area);
    scene.inside(['hash-object', '-w', '--stdin'], 'a\n');
    await scene.stores().bring(STORE.task);
    git(scene.folder, 'prune', '--expire=now');
    scene.commit({ a: 'a\n' });
    expect(await scene.close()).toEqual([]);
    expectSound(scene);
  });
});

describe('a damaged store', () => {
  // promise: sandbox-objects
  it('brings what is whole, names the rest, and stays', async () => {
    const scene = new StoreScene(area);
    const good = scene.inside(['hash-object', '-w', '--stdin'], 'good\n');
    const names = ['junk', 'other', 'folder', 'link', 'pipe'].map((name) =>
      scene.inside(['hash-object', '--stdin'], `${name}\n`),
    );
    const [junk = '', other = '', folder = '', link = '', pipe = ''] = names;
    scene.put(junk, 'junk');
    mkdirSync(path.dirname(scene.fileOf(other)), { recursive: true });
    // A sound object under the name of another.
    const sound = scene.inside(['hash-object', '-w', '--stdin'], 'sound\n');
    renameSync(scene.fileOf(sound), scene.fileOf(other));
    mkdirSync(scene.fileOf(folder), { recursive: true });
    mkdirSync(path.dirname(scene.fileOf(link)), { recursive: true });
    symlinkSync(scene.fileOf(good), scene.fileOf(link));
    mkdirSync(path.dirname(scene.fileOf(pipe)), { recursive: true });
    execFileSync('mkfifo', [scene.fileOf(pipe)]);
    const left = await scene.close();
    expect(new Map(left.map(({ id, why }) => [id, why]))).toEqual(
      new Map([
        [junk, 'it cannot be read'],
        [other, 'its content does not match its name'],
        [folder, 'it is not a file'],
        [link, 'it is not a file'],
        [pipe, 'it is not a file'],
      ]),
    );
    expect(git(scene.folder, 'cat-file', '-p', good)).toBe('good');
    expect(git(scene.folder, 'fsck', '--full', '--no-dangling')).toBe('');
    expect(existsSync(scene.new)).toBe(true);
    await scene.stores().drop(STORE);
    expectClosed(scene);
  });

  it('brings no object that names a missing or damaged one, so the repository stays whole', async () => {
    const scene = new StoreScene(area);
    const commit = scene.commit({ a: 'a\n' });
    const blob = scene.inside(['rev-parse', `${commit}:folder/a`]);
    scene.put(blob, 'junk');
    const above = scene.inside(['commit-tree', `${commit}^{tree}`, '-p', commit, '-m', 'feat: above']);
    const malformed = scene.inside(['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], 'no tree');
    const left = await scene.close();
    expect(left.map(({ id }) => id)).toEqual(expect.arrayContaining([blob, commit, above, malformed]));
    rmSync(path.join(scene.folder, '.git', BRANCH));
    expect(git(scene.folder, 'fsck', '--full', '--no-dangling')).toBe('');
  });

  // promise: sandbox-objects
  it('leads to no object of the repository by links', async () => {
    const scene = new StoreScene(area);
    scene.commit({ a: 'a\n' });
    const head = git(scene.folder, 'rev-parse', 'main');
    const prefix = head.slice(0, 2);
    if (existsSync(path.join(scene.new, prefix)))
      renameSync(path.join(scene.new, prefix), path.join(scene.new, 'x'));
    symlinkSync(path.join(scene.objects, prefix), path.join(scene.new, prefix));
    symlinkSync(scene.objects, path.join(scene.new, 'zz'));
    const before = statSync(path.join(scene.objects, prefix)).mode;
    await scene.stores().drop(STORE);
    expect(git(scene.folder, 'cat-file', '-t', head)).toBe('commit');
    expect(statSync(path.join(scene.objects, prefix)).mode).toBe(before);
    expectClosed(scene);
  });

  it('is not searched for pipes, which would be removed through links', () => {
    const scene = new StoreScene(area);
    const pipe = path.join(scene.new, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect([removePipes(path.join(scene.folder, '.git')), existsSync(pipe)]).toEqual([false, true]);
  });

  it('whose folders cannot be read is read all the same', async () => {
    const scene = new StoreScene(area);
    const commit = scene.commit({ a: 'a\n' });
    chmodSync(path.dirname(scene.fileOf(commit)), 0);
    expect(await scene.close()).toEqual([]);
    expectSound(scene);
  });

  it('with too many files is left to its own task by readers that miss an object', async () => {
    const scene = new StoreScene(area);
    const commit = scene.commit({ a: 'a\n' });
    const { missedObjects } = defaultPolicy.git;
    for (let at = 0; at <= missedObjects; at += 1)
      closeSync(openSync(path.join(path.dirname(scene.fileOf(commit)), `x${at}`), 'w'));
    const reader = new ObjectReader(scene.dir);
    expect(await reader.check([commit])).toEqual([undefined]);
    await reader.close();
    expect(await scene.close()).toEqual([]);
    expectSound(scene);
  });

  it('is not removed while a process of its attempt runs', async () => {
    const scene = new StoreScene(area);
    scene.commit({ a: 'a\n' });
    const running = spawnSync('sh', ['-c', 'sleep 60 > /dev/null 2>&1 & echo $!'], {
      env: { ...plainEnv, COPSE_ATTEMPT_ID: STORE.attempt },
      encoding: 'utf8',
    });
    const pid = Number(running.stdout);
    try {
      expect(await scene.close()).toEqual([]);
      expectSound(scene);
      expect(existsSync(scene.new)).toBe(true);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });
});

const kills = storeSteps.flatMap((first, at) =>
  (isLong ? storeSteps : storeSteps.slice(-1 - at).slice(0, 1)).map((second) => ({ first, second })),
);

// promise: sandbox-objects
it.each(kills)('killed at $first and then at $second, bringing is finished by the next look', async (at) => {
  const scene = new StoreScene(area);
  const commit = scene.commit({ a: 'a\n', b: 'b\n' });
  const isReadable = async () => {
    const reader = new ObjectReader(scene.dir);
    const [found] = await reader.check([commit]);
    await reader.close();
    return found?.type;
  };
  const { status, signal } = spawnSync(process.execPath, [worker, scene.folder, at.first], { env: plainEnv });
  expect([status, signal]).toEqual([null, 'SIGKILL']);
  expect(git(scene.folder, 'fsck', '--full', '--no-dangling', 'main')).toBe('');
  expect(await isReadable()).toBe('commit');
  expect(await isInterrupted(() => scene.stores(interruptAt(at.second)).close(STORE))).toBe(true);
  expect(await isReadable()).toBe('commit');
  expect(await scene.close()).toEqual([]);
  expectSound(scene);
  expectClosed(scene);
});

// promise: sandbox-objects
it('a store that a kill left behind is closed by copse tend', async () => {
  const scene = new StoreScene(area);
  scene.commit({ a: 'a\n' });
  expect(await copse(['tend'], { cwd: scene.folder })).toMatchObject({ code: 0 });
  expectSound(scene);
  expectClosed(scene);
});

it('a person’s alternates are used inside too, and stay as they are', () => {
  const scene = new StoreScene(area);
  const file = path.join(scene.objects, 'info', 'alternates');
  mkdirSync(path.dirname(file), { recursive: true });
  appendFileSync(file, '../elsewhere\n');
  layStore(path.join(scene.folder, '.git'), STORE);
  const inside = readFileSync(path.join(scene.store, 'info', 'alternates'), 'utf8');
  expect(inside).toBe(`../copse/objects/${STORE_NAME}/repository\n../elsewhere\n`);
});
