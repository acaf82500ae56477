/** The note of an index about its tree, against what `git write-tree` makes of the same index. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { cachedTree } from '../../../packages/copse/src/workspaces/git/rescue/cached-tree.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();

function newIndex(format: 'sha1' | 'sha256' = 'sha1'): string {
  const repository = format === 'sha1' ? newRepository(area) : path.join(area, 'sha256');
  if (format === 'sha256') git(area, 'init', '--quiet', '--object-format=sha256', repository);
  for (const name of ['a', 'deep/er/größe 林.ts', `it's "quoted"`, `${'long name '.repeat(20)}/x`]) {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), name);
  }
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message=files');
  return repository;
}

const noteIn = (repository: string, format: 'sha1' | 'sha256' = 'sha1') =>
  cachedTree(readFileSync(path.join(repository, '.git', 'index')), format);

describe('the tree that an index notes', () => {
  it.each(['sha1', 'sha256'] as const)('is the one that git writes, with %s', (format) => {
    const repository = newIndex(format);
    expect(noteIn(repository, format)).toBe(git(repository, 'write-tree'));
  });

  it('is the one that git writes, also with extended flags of entries', () => {
    const repository = newIndex();
    git(repository, 'update-index', '--skip-worktree', 'a');
    const tree = git(repository, 'write-tree');
    expect(readFileSync(path.join(repository, '.git', 'index')).readUInt32BE(4)).toBe(3);
    expect(noteIn(repository)).toBe(tree);
  });

  const changes: readonly [string, (repository: string) => void][] = [
    [
      'something is staged',
      (repository) => {
        writeFileSync(path.join(repository, 'a'), 'other');
        git(repository, 'add', 'a');
      },
    ],
    [
      'something is staged in a folder',
      (repository) => {
        writeFileSync(path.join(repository, 'deep/er/new'), 'new');
        git(repository, 'add', 'deep');
      },
    ],
    ['something is removed', (repository) => git(repository, 'rm', '--quiet', '--cached', 'a')],
    [
      'something is meant to be added',
      (repository) => {
        writeFileSync(path.join(repository, 'later'), '');
        git(repository, 'add', '--intent-to-add', 'later');
      },
    ],
  ];
  it.each(changes)('is none when %s', (_, act) => {
    const repository = newIndex();
    act(repository);
    expect(noteIn(repository)).toBe(undefined);
  });

  it('is none in an index of another version, or in one that was cut off anywhere', () => {
    const repository = newIndex();
    const whole = readFileSync(path.join(repository, '.git', 'index'));
    const tree = git(repository, 'write-tree');
    for (let length = 0; length < whole.length; length += 1) {
      expect([undefined, tree]).toContain(cachedTree(whole.subarray(0, length), 'sha1'));
    }
    git(repository, 'update-index', '--index-version=4');
    expect(noteIn(repository)).toBe(undefined);
  });
});
