/** Packs that Copse writes, as git reads them. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { deflated } from '../../../packages/copse/src/git/objects/deflated.ts';
import { type ObjectType, packEntry, writePack } from '../../../packages/copse/src/git/objects/packs.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';

const area = newArea();

function idOf(top: string, type: ObjectType, content: Buffer): string {
  const argv = ['hash-object', '-t', type, '--literally', '--stdin'];
  return execFileSync('git', argv, { cwd: top, env: plainEnv, input: content, encoding: 'utf8' }).trim();
}

/** Where the size of an object takes another byte, and where its content is worth compressing. */
const SIZES = [0, 1, 15, 16, 511, 512, 2_047, 2_048, 100_000, 300_000] as const;

describe.each(['sha1', 'sha256'] as const)('%s', (objectFormat) => {
  const top = path.join(area, objectFormat);
  git(area, 'init', '--quiet', `--object-format=${objectFormat}`, top);
  const objects = path.join(top, '.git', 'objects');

  it('git verifies a pack and reads every object in it, of any kind and size', () => {
    const blobs = SIZES.map((size) => Buffer.from('ü\0'.repeat(size).slice(0, size), 'latin1'));
    const entries = blobs.map((content) => packEntry(idOf(top, 'blob', content), 'blob', content));
    const tree = Buffer.concat([Buffer.from('100644 a\0'), Buffer.from(entries[3]!.id, 'hex')]);
    const treeId = idOf(top, 'tree', tree);
    const commit = Buffer.from(
      `tree ${treeId}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nmessage\n`,
    );
    const commitId = idOf(top, 'commit', commit);
    const all = [...entries, packEntry(treeId, 'tree', tree), packEntry(commitId, 'commit', commit)];
    writePack({ objectFormat }, objects, all, { isForGood: true });

    const names = readdirSync(path.join(objects, 'pack')).toSorted();
    expect(names).toEqual([
      expect.stringMatching(/^pack-\w+\.idx$/),
      expect.stringMatching(/^pack-\w+\.pack$/),
    ]);
    git(top, 'verify-pack', path.join(objects, 'pack', names[0]!));
    git(top, 'update-ref', 'refs/heads/main', commitId);
    expect(git(top, 'fsck', '--full', '--strict')).not.toMatch(/error|missing|corrupt/);
    for (const [at, content] of blobs.entries())
      expect(execFileSync('git', ['cat-file', 'blob', entries[at]!.id], { cwd: top, env: plainEnv })).toEqual(
        content,
      );
    expect(git(top, 'count-objects')).toMatch(/^0 objects/);
    // Written twice, it is the same pack.
    writePack({ objectFormat }, objects, all, { isForGood: true });
    expect(readdirSync(path.join(objects, 'pack')).toSorted()).toEqual(names);
  });

  it('git reads an uncompressed object from a loose file', () => {
    const content = Buffer.from('small\n');
    const id = idOf(top, 'blob', content);
    const file = path.join(objects, id.slice(0, 2), id.slice(2));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, deflated(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])));
    expect(git(top, 'cat-file', 'blob', id)).toBe('small');
    expect(git(top, 'fsck', '--full')).not.toMatch(/error|corrupt/);
  });
});

it('git ignores a pack without its index, left by a killed process', () => {
  const top = path.join(area, 'killed');
  git(area, 'init', '--quiet', top);
  const folder = path.join(top, '.git', 'objects', 'pack');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'tmp_pack_0011'), 'half');
  writeFileSync(path.join(folder, `pack-${'0'.repeat(40)}.pack`), 'PACK half');
  git(top, 'commit', '--quiet', '--allow-empty', '--message=first');
  expect(spawnSync('git', ['fsck', '--full'], { cwd: top, env: plainEnv }).status).toBe(0);
  git(top, 'prune', '--expire=now');
  expect(existsSync(path.join(folder, 'tmp_pack_0011'))).toBe(false);
});
