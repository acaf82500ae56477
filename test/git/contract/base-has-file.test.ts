/** Whether the base branch has a file, by git's files, held against what git itself lists. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { hasFileInBase } from '../../../packages/copse/src/compose/on-demand.ts';
import { baseHasFile } from '../../../packages/copse/src/git/refs/base-has-file.ts';
import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();

function withFiles() {
  const top = newRepository(area);
  mkdirSync(path.join(top, 'tools', 'ünï'), { recursive: true });
  for (const file of ['agent.sh', 'tools/run', 'tools/ünï/run']) writeFileSync(path.join(top, file), file);
  symlinkSync('agent.sh', path.join(top, 'link'));
  git(top, 'add', '--all');
  git(top, 'commit', '--quiet', '--message', 'feat: tools');
  const repository = findRepository(top);
  if (repository === undefined) throw new Error(`${top} is no repository`);
  return { top, dir: openTrustedDir(repository) };
}

test('is told of loose objects as git tells it', async () => {
  const { top, dir } = withFiles();
  const has = ['agent.sh', 'link', 'tools/run', 'tools/ünï/run'];
  const lacks = ['agent', 'tools', 'tools/ünï', 'tools/none', 'agent.sh/run', 'none/run', '../agent.sh', ''];
  expect(has.map((file) => baseHasFile(dir, file))).toEqual(has.map(() => true));
  expect(lacks.map((file) => baseHasFile(dir, file))).toEqual(lacks.map(() => false));
  const asked = [...has, ...lacks];
  const told: [string, boolean][] = [];
  for (const file of asked) told.push([file, await hasFileInBase(top, file)]);
  expect(told).toEqual(asked.map((file) => [file, has.includes(file)]));
});

test('is of the base and not of what is checked out', () => {
  const { top, dir } = withFiles();
  git(top, 'checkout', '--quiet', '-b', 'other');
  git(top, 'rm', '--quiet', 'agent.sh');
  git(top, 'commit', '--quiet', '--message', 'feat: without');
  expect(baseHasFile(dir, 'agent.sh')).toBe(true);
});

test('is left to git when objects are packed or missing', async () => {
  const { top, dir } = withFiles();
  const tree = git(top, 'rev-parse', 'main:tools');
  const file = path.join(top, '.git', 'objects', tree.slice(0, 2), tree.slice(2));
  rmSync(file, { force: true });
  expect(baseHasFile(dir, 'tools/run')).toBeNull();
  const packed = withFiles();
  git(packed.top, 'gc', '--quiet');
  expect(baseHasFile(packed.dir, 'agent.sh')).toBeNull();
  expect(await hasFileInBase(packed.top, 'agent.sh')).toBe(true);
});
