/** Tips by git's files, held against those that git itself is asked for. */

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { tipByFiles } from '../../../packages/copse/src/git/refs/tip-by-files.ts';
import { findTip } from '../../../packages/copse/src/git/refs/refs.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();

function opened() {
  const top = newRepository(area);
  // Every commit of the template may be packed.
  git(top, 'commit', '--quiet', '--allow-empty', '-m', 'feat: loose');
  const repository = findRepository(top);
  if (repository === undefined) throw new Error(`${top} is no repository`);
  const loose = (id: string) => path.join(top, '.git', 'objects', id.slice(0, 2), id.slice(2));
  return { top, dir: openTrustedDir(repository), main: git(top, 'rev-parse', 'main'), loose };
}

test('of a loose branch and of a commit are told without git', () => {
  const { dir, main } = opened();
  expect(tipByFiles(dir, 'refs/heads/main')).toBe(main);
  expect(tipByFiles(dir, main)).toBe(main);
});

test('are read again each time: a commit that was damaged or removed since has none', () => {
  const { dir, main, loose } = opened();
  expect(tipByFiles(dir, main)).toBe(main);
  const content = readFileSync(loose(main));
  rmSync(loose(main), { force: true });
  expect(tipByFiles(dir, main)).toBeUndefined();
  writeFileSync(loose(main), 'not an object');
  expect(tipByFiles(dir, main)).toBeUndefined();
  writeFileSync(loose(main), content);
  expect(tipByFiles(dir, main)).toBe(main);
});

test('of packed branches and commits, and of tags, are left to git', async () => {
  const { top, dir, main } = opened();
  git(top, 'pack-refs', '--all');
  expect(tipByFiles(dir, 'refs/heads/main')).toBeUndefined();
  expect(await findTip(dir, 'refs/heads/main')).toBe(main);
  git(top, 'gc', '--quiet');
  expect(tipByFiles(dir, main)).toBeUndefined();
  expect(await findTip(dir, main)).toBe(main);
});

test('are none when the commit is missing, or no commit', async () => {
  const { top, dir, main, loose } = opened();
  const tree = git(top, 'write-tree');
  writeFileSync(path.join(top, '.git/refs/heads/tree'), `${tree}\n`);
  rmSync(loose(main), { force: true });
  for (const name of ['refs/heads/main', main, 'refs/heads/tree', 'refs/heads/none', 'f'.repeat(40)]) {
    expect(tipByFiles(dir, name)).toBeUndefined();
    expect(await findTip(dir, name)).toBeUndefined();
  }
});

test('of a damaged commit are left to git, which says what is wrong', async () => {
  const { dir, main, loose } = opened();
  rmSync(loose(main), { force: true });
  writeFileSync(loose(main), 'not an object');
  expect(tipByFiles(dir, 'refs/heads/main')).toBeUndefined();
  await expect(findTip(dir, 'refs/heads/main')).rejects.toThrow('is corrupt');
});

test('are not read through a link, from outside of refs, or under a name that git refuses', () => {
  const { top, dir, main } = opened();
  const refs = path.join(top, '.git', 'refs', 'heads');
  symlinkSync('main', path.join(refs, 'link'));
  writeFileSync(path.join(top, '.git', 'outside'), main);
  mkdirSync(path.join(refs, '.hidden'));
  writeFileSync(path.join(refs, '.hidden', 'branch'), main);
  writeFileSync(path.join(refs, 'some.lock'), main);
  for (const name of ['link', '../../outside', '.hidden/branch', 'some.lock', './main', 'main/'])
    expect(tipByFiles(dir, `refs/heads/${name}`)).toBeUndefined();
  expect(tipByFiles(dir, 'outside')).toBeUndefined();
  expect(tipByFiles(dir, 'HEAD')).toBeUndefined();
});
