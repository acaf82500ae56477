/** Histories and trees are read as git reads them, without starting it. A failure names its seed. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deflateSync } from 'node:zlib';

import { afterAll, describe, expect, it } from 'vitest';

import { commitsOf, isReachable } from '../../../../packages/copse/src/git/objects/history.ts';
import { type Splicer, splice } from '../../../../packages/copse/src/queue/merge/splice.ts';
import { MergeEngine } from '../../../../packages/copse/src/queue/merge/engine.ts';
import { readLoose } from '../../../../packages/copse/src/git/objects/loose.ts';
import { ObjectReader, objectsOf } from '../../../../packages/copse/src/git/objects/object-reader.ts';
import { Objects, knownObjectsOf } from '../../../../packages/copse/src/git/objects/objects.ts';
import { Quarantine } from '../../../../packages/copse/src/git/objects/quarantine.ts';
import { isAncestor } from '../../../../packages/copse/src/git/refs/refs.ts';
import { RecentCache } from '../../../../packages/copse/src/kernel/recent-cache.ts';
import { TreeView, diffTrees } from '../../../../packages/copse/src/git/objects/tree-diff.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, plainEnv } from '../../../support/cli.ts';

const area = newArea();
const open: ObjectReader[] = [];
afterAll(() => Promise.all(open.map((reader) => reader.close())));

function chance(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return (state >>> 8) % below;
  };
}

interface World {
  readonly top: string;
  readonly objects: Objects;
  readonly ids: readonly CommitId[];
  readonly parents: readonly (readonly number[])[];
}

const NAMES = ['a', 'a.txt', 'a/b', 'a/b.c', 'a-b', 'ab', 'd/e/f', 'd/e.f', 'd/é', 'z\\"x'];

/** Commits with up to three parents, dates that go back by up to an hour, and files in place of folders. */
function newWorld(seed: number, format = 'sha1'): World {
  const draw = chance(seed);
  const top = path.join(area, `world ${seed} ${format}`);
  git(area, 'init', '--quiet', `--object-format=${format}`, top);
  const parents: number[][] = [];
  let stream = '';
  for (let at = 0; at < 60; at += 1) {
    const drawn =
      at === 0
        ? []
        : Array.from({ length: draw(8) < 6 ? 1 : 2 + draw(2) }, () => at - 1 - draw(Math.min(at, 7)));
    const own = draw(25) === 0 ? [] : [...new Set(drawn)];
    parents.push(own);
    const date = 1_700_000_000 + at * 60 - draw(3_600);
    stream += `commit refs/heads/c${at}\nmark :${at + 1}\ncommitter A <a@b> ${date} +0000\ndata 2\nc\n\n`;
    stream += own.map((parent, index) => `${index === 0 ? 'from' : 'merge'} :${parent + 1}\n`).join('');
    for (let changes = draw(4); changes > 0; changes -= 1) {
      const name = NAMES[draw(NAMES.length)];
      const mode = ['100644', '100755', '120000', '160000'][draw(4)];
      if (draw(4) === 0) stream += `D "${name}"\n`;
      else if (mode === '160000')
        stream += `M 160000 ${'12'.repeat(format === 'sha1' ? 20 : 32)} "${name}"\n`;
      else stream += `M ${mode} inline "${name}"\ndata 2\n${draw(5)}\n\n`;
    }
  }
  execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: top, env: plainEnv, input: stream });
  const dir = openTrustedDir({ commonDir: path.join(top, '.git'), home: top });
  const reader = new ObjectReader(dir);
  open.push(reader);
  const objects = new Objects(dir, reader, { folders: [path.join(top, '.git', 'objects')] });
  const ids = parents.map((_, at) => brand<CommitId>(git(top, 'rev-parse', `c${at}`)));
  return { top, objects, ids, parents };
}

/** All that can be reached, itself included, by what the history was made of. */
function reachedFrom({ parents }: World, start: number): ReadonlySet<number> {
  const reached = new Set<number>();
  const next = [start];
  for (let at = next.pop(); at !== undefined; at = next.pop())
    if (!reached.has(at)) {
      reached.add(at);
      next.push(...parents[at]!);
    }
  return reached;
}

const worlds = [
  [1, 'sha1'],
  [2, 'sha1'],
  [3, 'sha256'],
] as const;

describe.each(worlds)('seed %i, %s', (seed, format) => {
  const world = newWorld(seed, format);
  const { top, objects, ids } = world;
  const draw = chance(seed + 100);
  const pairs = Array.from({ length: 60 }, () => [draw(ids.length), draw(ids.length)] as const);

  it('lists the commits that one has and the other has not, in the order of git', async () => {
    for (const [one, other] of pairs) {
      const [has, lacks] = [reachedFrom(world, one), reachedFrom(world, other)];
      const expected = new Set([...has].filter((at) => !lacks.has(at)).map((at) => ids[at]));
      const found = await commitsOf(objects, ids[one]!, ids[other]!);
      expect(new Set(found?.map(({ id }) => id)), `${one} ${other}`).toEqual(expected);
    }
    for (const [one, other] of pairs.slice(0, 15)) {
      const argv = ['rev-list', '--topo-order', '--reverse', ids[one]!, `^${ids[other]}`];
      const found = await commitsOf(objects, ids[one]!, ids[other]!);
      expect(found?.map(({ id }) => id).join('\n'), `${one} ${other}`).toBe(git(top, ...argv));
    }
  });

  it('knows which is an ancestor of which', async () => {
    for (const [one, other] of pairs)
      expect(await isReachable(objects, ids[one]!, ids[other]!), `${one} ${other}`).toBe(
        reachedFrom(world, other).has(one),
      );
  });

  it('finds the differences of trees, and entries by path, as git does', async () => {
    for (const [one, other] of pairs.slice(0, 30)) {
      const trees = [await objects.commit(ids[one]!), await objects.commit(ids[other]!)].map(
        ({ tree }) => tree,
      );
      const raw = git(top, 'diff-tree', '-r', '-z', '--no-renames', '--ignore-submodules=none', ...trees);
      const parts = raw.split('\0').filter((part) => part !== '');
      const expected = parts.flatMap((part, at) => {
        if (!part.startsWith(':')) return [];
        const [from, to, before, after] = part.slice(1).split(' ');
        return [`${parts[at + 1]} ${shown(from, before)} ${shown(to, after)}`];
      });
      const found = (await diffTrees(objects, trees[0], trees[1])).map(
        ({ path: name, before, after }) =>
          `${Buffer.from(name, 'latin1').toString()} ${shown(before?.mode, before?.id)} ${shown(after?.mode, after?.id)}`,
      );
      expect(found.toSorted(), `${one} ${other}`).toEqual(expected.toSorted());
    }
    const { tree } = await objects.commit(ids.at(-1)!);
    const view = new TreeView(objects, tree);
    for (const name of [...NAMES, 'd', 'd/e', 'none', 'a/none/x'].map((one) => one.replace('\\', '')))
      expect((await view.find(Buffer.from(name).toString('latin1')))?.id).toBe(idAt(top, tree, name));
  });
});

const FOLDERS = ['', 'd/', 'd/e/', 'x/', 'x.y/', 'ü/'];

/** A commit and two that follow it, sixty times; names of their branches. */
function newForks(seed: number, format: string): { readonly top: string; readonly forks: readonly number[] } {
  const draw = chance(seed);
  const top = path.join(area, `forks ${seed} ${format}`);
  git(area, 'init', '--quiet', `--object-format=${format}`, top);
  const forks = Array.from({ length: 60 }, (_, at) => at);
  // Beside folders that are there from the beginning, one that only either side may have.
  const name = (letters: string) => {
    const folders = letters.includes('n') ? [...FOLDERS, 'n/', 'n/'] : FOLDERS;
    return `${folders[draw(folders.length)]}${letters[draw(letters.length)]}`;
  };
  // One of its lines is another: of two who change a file, git can often keep both.
  const content = () => {
    const [line, value] = [draw(4) * 3, draw(30) + 10];
    return Array.from({ length: 10 }, (_, at) => `${at === line ? value : 50 + at}\n`).join('');
  };
  const putAt = (place: string, mode: string) => `M ${mode} inline ${place}\ndata 30\n${content()}\n`;
  const put = (letters: string) => putAt(name(letters), draw(5) === 0 ? '100755' : '100644');
  // Files of the last two names may take the place of a folder.
  const change = () => (draw(4) === 0 ? `D ${name('abcefg')}\n` : put('abcefgxnn'));
  const move = () => (draw(4) === 0 ? `R ${FOLDERS[1 + draw(5)]!.slice(0, -1)} moved\n` : '');
  const commit = (ref: string, from: string, changes: string) =>
    `commit refs/heads/${ref}\ncommitter A <a@b> 1700000000 +0000\ndata 2\nc\n\n${from}${changes}\n`;
  let stream = '';
  for (const at of forks) {
    const shared = name('abcefg');
    const whole = Array.from({ length: 30 }, () => put('abcefg')).join('');
    const keep = FOLDERS.slice(1)
      .map((folder) => `M 100644 inline ${folder}keep\ndata 2\nk\n\n`)
      .join('');
    stream += commit(`base${at}`, '', keep + whole + putAt(shared, '100644'));
    for (const side of ['side', 'onto'])
      stream += commit(
        `${side}${at}`,
        `from refs/heads/base${at}\n`,
        move() +
          Array.from({ length: 1 + draw(3) }, change).join('') +
          (draw(3) > 0 ? putAt(shared, '100644') : ''),
      );
  }
  execFileSync('git', ['fast-import', '--quiet'], { cwd: top, env: plainEnv, input: stream });
  return { top, forks };
}

describe.each([
  [4, 'sha1'],
  [5, 'sha1'],
  [6, 'sha256'],
] as const)('seed %i, %s', (seed, format) => {
  it('changes are merged as git does, or left to git', async () => {
    const { top, forks } = newForks(seed, format);
    const dir = openTrustedDir({ commonDir: path.join(top, '.git'), home: top });
    const reader = new ObjectReader(dir);
    open.push(reader);
    const objects = new Objects(dir, reader, { folders: [] });
    const quarantine = new Quarantine(dir);
    await quarantine.open();
    let [spliced, mergedFiles] = [0, 0];
    const mergeFile: Splicer['mergeFile'] = (versions) => ((mergedFiles += 1), mergeInGit(top, versions));
    for (const at of forks) {
      const tree = (of: string) => git(top, 'rev-parse', `${of}${at}^{tree}`);
      const found = await splice(
        { objects, quarantine, asWritten: new RecentCache<string, true>(1_000), mergeFile },
        { base: tree('base'), side: tree('side'), onto: tree('onto') },
      );
      if (found === undefined) continue;
      spliced += 1;
      const argv = ['merge-tree', '--write-tree', `onto${at}`, `side${at}`];
      const merged = spawnSync('git', argv, { cwd: top, env: plainEnv, encoding: 'utf8' });
      expect([at, merged.status, merged.stdout.trim()]).toEqual([at, 0, found]);
    }
    quarantine.close();
    expect(spliced).toBeGreaterThan(15);
    expect(mergedFiles).toBeGreaterThan(3);
    expect(spliced).toBeLessThan(forks.length);
  });
});

/** One file by itself, as `git merge-file` has it. */
async function mergeInGit(
  top: string,
  { base, ours, theirs }: Parameters<Splicer['mergeFile']>[0],
): Promise<string | undefined> {
  const files = [ours, base, theirs].map((id) => {
    const file = path.join(top, '..', `version-${id}`);
    writeFileSync(file, execFileSync('git', ['cat-file', 'blob', id], { cwd: top, env: plainEnv }));
    return file;
  });
  const merged = spawnSync('git', ['merge-file', '-p', '-q', ...files], { cwd: top, env: plainEnv });
  if (merged.status !== 0) return undefined;
  const argv = ['hash-object', '-w', '--stdin'];
  const stored = execFileSync('git', argv, { cwd: top, env: plainEnv, input: merged.stdout });
  return stored.toString().trim();
}

function shown(mode: string | undefined, id: string | undefined): string {
  return mode === undefined || /^0+$/.test(mode) ? 'nothing' : `${mode} ${id}`;
}

function idAt(top: string, tree: string, name: string): string | undefined {
  const argv = ['rev-parse', '--verify', '--quiet', `${tree}:${name}`];
  const { stdout } = spawnSync('git', argv, { cwd: top, env: plainEnv, encoding: 'utf8' });
  return stdout.trim() === '' ? undefined : stdout.trim();
}

it('a walk that is too long is left to git', async () => {
  const top = path.join(area, 'long');
  git(area, 'init', '--quiet', top);
  const commit = (ref: string, at: number, from = '') =>
    `commit refs/heads/${ref}\ncommitter A <a@b> ${1_700_000_000 + at} +0000\ndata 2\nc\n\n${from}`;
  const main = Array.from({ length: 2_500 }, (_, at) => commit('main', at)).join('');
  const task = commit('task', 3_000, 'from refs/heads/main~2400^0\n');
  for (const input of [main, task])
    execFileSync('git', ['fast-import', '--quiet'], { cwd: top, env: plainEnv, input });
  const dir = openTrustedDir({ commonDir: path.join(top, '.git'), home: top });
  const reader = new ObjectReader(dir);
  open.push(reader);
  const objects = new Objects(dir, reader, { folders: [] });
  const tip = (name: string) => brand<CommitId>(git(top, 'rev-parse', name));
  expect(await commitsOf(objects, tip('task'), tip('main'))).toBeUndefined();
  expect(await isAncestor(dir, tip('main~2450'), tip('main'))).toBe(true);
  expect(await isAncestor(dir, tip('task'), tip('main'))).toBe(false);
});

it('a loose object counts only if its hash matches its name', async () => {
  const world = newWorld(9);
  const { top, objects } = world;
  const { tree } = await objects.commit(world.ids[5]!);
  git(top, 'repack', '-adq');
  const file = path.join(top, '.git', 'objects', tree.slice(0, 2), tree.slice(2));
  expect(existsSync(file)).toBe(false);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, deflateSync('tree 0\0'));
  const fresh = new Objects(objects.dir, objects.reader, { folders: [path.join(top, '.git', 'objects')] });
  expect((await fresh.tree(tree)).length).toBeGreaterThan(0);
});

it('all readers of a repository share one cache of trees', async () => {
  const { top, ids } = newWorld(12);
  const dir = openTrustedDir({ commonDir: path.join(top, '.git'), home: top });
  const engine = new MergeEngine(dir);
  const { tree } = await engine.objects.commit(ids.at(-1)!);
  const read = await engine.objects.tree(tree);
  expect(read.length).toBeGreaterThan(0);
  expect(await knownObjectsOf(dir).tree(tree)).toBe(read);
  await engine.close();
  open.push(objectsOf(dir));
});

it('a tree in the cache holds no more memory than its bytes', async () => {
  const { objects, ids } = newWorld(11);
  const { tree } = await objects.commit(ids[5]!);
  const read = await objects.tree(tree);
  expect(read.buffer.byteLength).toBe(read.length);
  // A buffer of this size comes out of a slab that all small ones share.
  objects.rememberTree('0'.repeat(40), Buffer.from('small'));
  expect((await objects.tree('0'.repeat(40))).buffer.byteLength).toBe('small'.length);
});

it('a small loose object in the cache holds no more memory than its bytes', () => {
  const top = path.join(area, 'loose');
  git(area, 'init', '--quiet', top);
  const tree = git(top, 'write-tree');
  const id = git(top, 'commit-tree', '-m', 'c', tree);
  const read = () => readLoose({ objectFormat: 'sha1' }, [path.join(top, '.git', 'objects')], id);
  const first = read();
  expect(first?.type).toBe('commit');
  expect(read()).toBe(first);
  expect(first?.content.buffer.byteLength).toBe(first?.content.length);
});

it('a reader keeps no object after it gave it out', async () => {
  const { top, objects } = newWorld(13);
  const hash = ['hash-object', '-w', '--stdin'];
  const input = Buffer.alloc(300_000, 'x');
  const id = execFileSync('git', hash, { cwd: top, env: plainEnv, input }).toString().trim();
  const read = async () => new WeakRef((await objects.reader.read(id))!.content.buffer);
  expect(await becomesGarbage(await read())).toBe(true);
});

/** A WeakRef holds its target until the end of the turn in which it was made or asked. */
async function becomesGarbage(held: WeakRef<WeakKey>): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    if (held.deref() === undefined) return true;
  }
  return false;
}
