/** An object store that its agent made to be expensive, unreadable or beyond limits. The honest part of it is never lost. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';

import { describe, expect, it, vi } from 'vitest';

import { ObjectReader, layStore } from '../../../packages/copse/src/git/objects.ts';
import { copse, git, newArea, plainEnv } from '../../support/cli.ts';
import { runGit } from '../../support/git/git-shell.ts';
import { STORE, STORE_NAME, StoreScene, expectClosed, expectSound } from '../../support/git/store-scene.ts';

const area = newArea();
vi.setConfig({ testTimeout: 60_000 });
const worker = fileURLToPath(new URL('../../support/git/store-worker.ts', import.meta.url));

/** Writes an object as git does, in less time. */
function write(scene: StoreScene, type: string, content: Buffer): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash('sha1').update(whole).digest('hex');
  scene.put(id, deflateSync(whole, { level: 1 }));
  return id;
}

const MEGABYTE = 1024 ** 2;

describe('a store beyond limits', () => {
  // promise: sandbox-objects
  it('loses no commit when its task is over: large trees and commits come in parts', async () => {
    const scene = new StoreScene(area);
    const commit = scene.commit({ a: 'a\n' });
    const head = scene.inside(['cat-file', '-p', commit]).split('\n\n')[0];
    const message = 'x'.repeat(24 * MEGABYTE);
    const large = [1, 2, 3].map((n) => write(scene, 'commit', Buffer.from(`${head}\n\n${n}${message}\n`)));
    await scene.stores().drop(STORE);
    expectSound(scene);
    for (const id of large) expect(git(scene.folder, 'cat-file', '-t', id)).toBe('commit');
    expectClosed(scene);
  });

  // promise: sandbox-objects
  it('with too many files is set aside when its task is over, and not deleted', async () => {
    const scene = new StoreScene(area);
    const commit = scene.commit({ a: 'a\n' });
    const stores = scene.stores(undefined, { mostObjects: 2 });
    await expect(stores.close(STORE)).rejects.toMatchObject({
      remedy: expect.stringMatching(
        new RegExp(` && mv '.*/${STORE_NAME}' '.*/set-aside/${STORE_NAME}' # to move it aside`),
      ) as unknown,
    });
    await stores.drop(STORE);
    expectClosed(scene);
    const [aside = ''] = readdirSync(scene.aside);
    const file = path.join(scene.aside, aside, 'new', commit.slice(0, 2), commit.slice(2));
    expect(existsSync(file)).toBe(true);
  });
});

describe('a store that is made to fail', () => {
  it('by a tree with 300,000 entries is brought', async () => {
    const scene = new StoreScene(area);
    const below = scene.inside(['mktree'], '');
    const [tree, id] = [scene.inside(['mktree'], `040000 tree ${below}\tx\n`), Buffer.alloc(20)];
    id.write(tree, 'hex');
    const entries = Array.from({ length: 300_000 }, (_, at) =>
      Buffer.concat([Buffer.from(`40000 ${String(at).padStart(6, '0')}\0`), id]),
    );
    const wide = write(scene, 'tree', Buffer.concat(entries));
    expect(await scene.close()).toEqual([]);
    expect(git(scene.folder, 'cat-file', '-t', wide)).toBe('tree');
  });

  it('by permissions of its outermost folder is laid and brought', () => {
    const scene = new StoreScene(area);
    scene.commit({ a: 'a\n' });
    chmodSync(scene.new, 0);
    // The superuser may read all files, unless the program starts without these rights.
    const without =
      process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
    const [program, ...rest] = [...without, process.execPath, worker, scene.folder, 'none'];
    const { status, stderr } = spawnSync(program, rest, { env: plainEnv, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expectSound(scene);
    expectClosed(scene);
  });

  it('by a folder that it exchanges for a link leads to no file outside', async () => {
    const scene = new StoreScene(area);
    const id = scene.inside(['hash-object', '-w', '--stdin'], 'outside\n');
    const folder = path.dirname(scene.fileOf(id));
    const outside = path.join(scene.folder, 'outside');
    mkdirSync(outside);
    copyFileSync(scene.fileOf(id), path.join(outside, path.basename(scene.fileOf(id))));
    scene.put(id, 'junk');
    const stores = scene.stores();
    await stores.bring(STORE.task);
    // The next look remembers the damaged file, so it does not list the folder for it.
    renameSync(folder, path.join(scene.new, 'x'));
    symlinkSync(outside, folder);
    await stores.bring(STORE.task);
    expect(runGit({ cwd: scene.folder, argv: ['cat-file', '-t', id] }).status).not.toBe(0);
  });
});

describe('files that cannot be brought', () => {
  it('are not read again by the next look while they stay the same', async () => {
    const scene = new StoreScene(area);
    const id = scene.inside(['hash-object', '--stdin'], 'zeros\n');
    scene.put(id, deflateSync(Buffer.alloc(40 * MEGABYTE)));
    const folder = path.join(scene.objects, id.slice(0, 2));
    const stores = scene.stores();
    await stores.bring(STORE.task);
    // A copy is begun there.
    rmdirSync(folder);
    await stores.bring(STORE.task);
    expect(existsSync(folder)).toBe(false);
  });

  it('because they are large, are read once for readers that miss an object', async () => {
    const scene = new StoreScene(area);
    for (const text of ['a', 'b', 'c', 'd'])
      scene.put(scene.inside(['hash-object', '--stdin'], text), deflateSync(Buffer.alloc(40 * MEGABYTE)));
    const reader = new ObjectReader(scene.dir);
    const missed = async () => {
      const before = process.cpuUsage();
      await reader.check(['f'.repeat(40)]);
      return process.cpuUsage(before).user;
    };
    const first = await missed();
    expect(await missed()).toBeLessThan(first / 2);
    await reader.close();
  });

  it('come when they are whole again, also if a look found them deleted', async () => {
    const scene = new StoreScene(area);
    const id = scene.inside(['hash-object', '-w', '--stdin'], 'again\n');
    const stores = scene.stores();
    scene.put(id, 'junk');
    await stores.bring(STORE.task);
    rmSync(scene.fileOf(id));
    await stores.bring(STORE.task);
    expect(scene.inside(['hash-object', '-w', '--stdin'], 'again\n')).toBe(id);
    await stores.bring(STORE.task);
    expect(git(scene.folder, 'cat-file', '-p', id)).toBe('again');
  });

  it('are named also while a process of the attempt runs', async () => {
    const scene = new StoreScene(area);
    const id = scene.inside(['hash-object', '--stdin'], 'junk\n');
    scene.put(id, 'junk');
    const running = spawnSync('sh', ['-c', 'sleep 60 > /dev/null 2>&1 & echo $!'], {
      env: { ...plainEnv, COPSE_ATTEMPT_ID: STORE.attempt },
      encoding: 'utf8',
    });
    try {
      expect(await scene.close()).toMatchObject([{ id }]);
    } finally {
      process.kill(Number(running.stdout), 'SIGKILL');
    }
  });
});

// promise: sandbox-objects
it('copse tend closes the other stores when one cannot be closed, and keeps damaged ones of unknown tasks', async () => {
  const scene = new StoreScene(area);
  const [blocked, good, junk] = ['blocked\n', 'good\n', 'junk\n'].map((text) =>
    scene.inside(['hash-object', '-w', '--stdin'], text),
  ) as [string, string, string];
  const second = path.join(path.dirname(scene.store), 'cp-a1b2.at-2');
  for (const id of [good, junk]) {
    const to = path.join(second, 'new', id.slice(0, 2), id.slice(2));
    mkdirSync(path.dirname(to), { recursive: true });
    renameSync(scene.fileOf(id), to);
    if (id === junk) rmSync(to);
    if (id === junk) writeFileSync(to, 'junk');
  }
  // A folder of the repository into which no object can be written.
  symlinkSync('nowhere', path.join(scene.objects, blocked.slice(0, 2)));
  expect(await copse(['tend'], { cwd: scene.folder })).toMatchObject({ code: 0 });
  expect(git(scene.folder, 'cat-file', '-p', good)).toBe('good');
  expect([existsSync(scene.fileOf(blocked)), existsSync(second)]).toEqual([true, true]);
});

// promise: sandbox-objects
it('an object that is empty or about to be deleted in the repository is written or made new before the store goes', async () => {
  const scene = new StoreScene(area);
  const commit = scene.commit({ a: 'a\n', b: 'b\n' });
  const blobOf = (name: string) => scene.inside(['rev-parse', `${commit}:folder/${name}`]);
  const inRepository = (id: string) => path.join(scene.objects, id.slice(0, 2), id.slice(2));
  const [empty, old] = [inRepository(blobOf('a')), inRepository(blobOf('b'))];
  for (const file of [empty, old]) mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(empty, '');
  copyFileSync(scene.fileOf(blobOf('b')), old);
  utimesSync(old, 0, 0);
  expect(await scene.close()).toEqual([]);
  expectSound(scene);
  expect(Date.now() - statSync(old).mtimeMs).toBeLessThan(600_000);
});

it('relative alternates of a person are hidden where git would refuse them', () => {
  const scene = new StoreScene(area);
  const target = path.join(scene.store, 'repository', 'info', 'alternates');
  const mountOf = () =>
    layStore(path.join(scene.folder, '.git'), STORE).find((mount) => mount.target === target);
  expect(mountOf()).toBeUndefined();
  mkdirSync(path.join(scene.objects, 'info'), { recursive: true });
  writeFileSync(path.join(scene.objects, 'info', 'alternates'), '../elsewhere\n');
  expect(readFileSync(mountOf()?.source ?? '', 'utf8')).toBe('');
});
