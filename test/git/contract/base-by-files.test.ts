/** The base branch by git's files, held against the one that git itself is asked for. */

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { baseByFiles } from '../../../packages/copse/src/git/refs/base-by-files.ts';
import { openGit } from '../../../packages/copse/src/git/repository.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();

function openAt(folder: string) {
  const repository = findRepository(folder);
  if (repository === undefined) throw new Error(`${folder} is no repository`);
  return openTrustedDir(repository);
}

async function bothAt(folder: string) {
  const dir = openAt(folder);
  return { files: baseByFiles(dir), git: await openGit(dir, defaultPolicy).detectBase() };
}

/** With a remote that has `trunk`, of which its HEAD may speak. */
function withRemote(): string {
  const top = newRepository(area);
  const head = git(top, 'rev-parse', 'main');
  git(top, 'remote', 'add', 'origin', path.join(area, 'origin.git'));
  git(top, 'update-ref', 'refs/remotes/origin/trunk', head);
  return top;
}

test.each<readonly [string, string | null, () => string]>([
  ['main', 'main', () => newRepository(area)],
  [
    'master, when there is no main',
    'master',
    () => {
      const top = newRepository(area);
      git(top, 'branch', '--move', 'main', 'master');
      return top;
    },
  ],
  [
    'the branch that is checked out, when there is neither',
    'develop/ünï',
    () => {
      const top = newRepository(area);
      git(top, 'branch', '--move', 'main', 'develop/ünï');
      return top;
    },
  ],
  [
    'a branch whose ref is packed',
    'main',
    () => {
      const top = newRepository(area);
      git(top, 'pack-refs', '--all');
      return top;
    },
  ],
  [
    'what the remote calls its HEAD',
    'trunk',
    () => {
      const top = withRemote();
      git(top, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk');
      return top;
    },
  ],
  [
    'main, when the remote’s HEAD leads nowhere',
    'main',
    () => {
      const top = withRemote();
      git(top, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/gone');
      return top;
    },
  ],
])('is %s', async (_, expected, make) => {
  expect(await bothAt(make())).toEqual({ files: expected, git: expected });
});

test('is left to git when a ref is not a plain file with a commit', () => {
  const top = newRepository(area);
  git(top, 'branch', 'other');
  git(top, 'symbolic-ref', 'refs/heads/main', 'refs/heads/other');
  expect(baseByFiles(openAt(top))).toBeNull();
});

test('is left to git when the configuration changed since the directory was opened', () => {
  const top = newRepository(area);
  const dir = openAt(top);
  git(top, 'remote', 'add', 'upstream', path.join(area, 'elsewhere.git'));
  expect(baseByFiles(dir)).toBeNull();
});

test('is left to git when there is no branch', () => {
  const top = newRepository(area);
  const dir = openAt(top);
  rmSync(path.join(top, '.git', 'refs', 'heads', 'main'));
  writeFileSync(path.join(top, '.git', 'HEAD'), 'ref: refs/heads/unborn\n');
  expect(baseByFiles(dir)).toBeNull();
});
