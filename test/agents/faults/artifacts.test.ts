/** The store of artifacts, while an agent exchanges its files and writes into the store. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { openArtifacts } from '../../../packages/copse/src/agents/files/artifacts.ts';
import type { Artifacts } from '../../../packages/copse/src/agents/ports/runners.ts';
import { type NodeId, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { newArea } from '../../support/cli.ts';

const task = brand<TaskId>('cp-0001');
const { fileBytes } = defaultPolicy.artifacts;
const area = newArea();
let count = 0;
let home: string;
let own: string;
let artifacts: Artifacts;

beforeEach(() => {
  count += 1;
  home = path.join(area, `home ${count}`);
  own = path.join(area, `own ${count}`);
  mkdirSync(own, { recursive: true });
  writeFileSync(path.join(area, 'outside.txt'), 'secret');
  artifacts = openArtifacts(home);
});

const room = () => undefined;
const take = (file: string, from: string | null = null) =>
  artifacts.take(task, { kind: 'own', folders: [own], from, file }, room);
const stored = () => path.join(home, '.copse/artifacts', task);
const hash = (content: string) => createHash('sha256').update(content).digest('hex');
const artifactOf = (content: string) => ({
  kind: 'file' as const,
  address: `sha256:${hash(content)}`,
  content: { name: 'a', bytes: content.length, sha256: hash(content), node: brand<NodeId>('n-1') },
});

describe('a file of an agent', () => {
  test('is kept under its hash, once for each content', () => {
    mkdirSync(path.join(own, 'deep'));
    writeFileSync(path.join(own, 'deep/a.txt'), 'x');
    writeFileSync(path.join(own, 'b.txt'), 'x');
    expect(take('deep/a.txt')).toEqual({ kind: 'taken', name: 'a.txt', bytes: 1, sha256: hash('x') });
    expect(take('b.txt')).toMatchObject({ name: 'b.txt', sha256: hash('x') });
    expect(take(path.join(own, 'b.txt'))).toMatchObject({ kind: 'taken' });
    expect(take('a.txt', path.join(own, 'deep'))).toMatchObject({ kind: 'taken' });
    expect(readdirSync(stored())).toEqual([hash('x')]);
  });

  test.each([
    ['a way out', '../outside.txt', 'none of the folders'],
    ['a way out and back', '../../../../../../../../etc/passwd', 'none of the folders'],
    ['the folder itself', '.', 'none of the folders'],
    ['a link', 'link', 'symbolic link'],
    ['a link among the folders', 'up/outside.txt', 'symbolic link'],
    ['a folder', 'folder', 'not a regular file'],
    ['a device', 'folder/nothing', 'no such file'],
    ['a name without end', 'x'.repeat(10_000), 'cannot be read'],
    ['NUL', 'a\0b', 'cannot be read'],
    ['a name with an escape sequence', 'a\u001b[2J', 'control'],
  ])('is refused: %s', (_, file, reason) => {
    symlinkSync('../outside.txt', path.join(own, 'link'));
    symlinkSync('..', path.join(own, 'up'));
    mkdirSync(path.join(own, 'folder'));
    writeFileSync(path.join(own, 'a\u001b[2J'), 'x');
    expect(take(file)).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) as string });
  });

  test('is refused, and not waited for, if it is a pipe', () => {
    execFileSync('mkfifo', [path.join(own, 'pipe')]);
    expect(take('pipe')).toMatchObject({ reason: expect.stringContaining('not a regular file') as string });
  });

  test('is refused beyond the limit, without being kept', () => {
    const file = path.join(own, 'huge');
    writeFileSync(file, '');
    truncateSync(file, fileBytes + 1);
    expect(take('huge')).toMatchObject({ reason: expect.stringContaining('add its URI') as string });
    expect(() => readdirSync(stored())).toThrow('ENOENT');
  });
});

describe('content that is read', () => {
  beforeEach(() => {
    writeFileSync(path.join(own, 'a'), 'right');
    take('a');
  });
  const file = () => path.join(stored(), hash('right'));

  test('is what was added', () => {
    const read = artifacts.read(task, artifactOf('right'));
    expect(read.kind === 'read' && Buffer.from(read.content).toString()).toBe('right');
  });

  test.each(['wrong', 'longer than it was', ''])('is refused when it was changed to %j', (text) => {
    writeFileSync(file(), text);
    expect(artifacts.read(task, artifactOf('right'))).toEqual({ kind: 'changed' });
  });

  test('is written again by the next addition', () => {
    writeFileSync(file(), 'wrong');
    take('a');
    expect(artifacts.read(task, artifactOf('right')).kind).toBe('read');
  });

  test('leads to no other file, whatever the record says', () => {
    const content = { ...artifactOf('right').content, sha256: '../../../../outside.txt' };
    expect(artifacts.read(task, { kind: 'file', address: 'x', content })).toEqual({ kind: 'missing' });
    const patch = { kind: 'patch' as const, address: path.join(area, 'outside.txt') };
    expect(artifacts.read(task, patch)).toEqual({ kind: 'missing' });
  });
});

test('unfinished files of killed processes go with a later addition', () => {
  mkdirSync(stored(), { recursive: true });
  for (const name of ['old.new', 'young.new']) writeFileSync(path.join(stored(), name), 'x');
  utimesSync(path.join(stored(), 'old.new'), 0, 0);
  writeFileSync(path.join(own, 'a'), 'x');
  take('a');
  expect(readdirSync(stored()).toSorted()).toEqual([hash('x'), 'young.new'].toSorted());
});

test.each(['', 'text\n', 'two\r\nlines\r\n', 'bin\u0000ary'])('git has %j under one of the ids', (text) => {
  const content = Buffer.from(text);
  const ids = artifacts.blobIds(content, 40);
  const input = (bytes: Buffer | string) =>
    execFileSync('git', ['hash-object', '--stdin'], { input: bytes, cwd: own, encoding: 'utf8' }).trim();
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${hash(text)}\nsize ${content.length}\n`;
  expect(ids).toEqual([input(content), input(text.replaceAll('\r\n', '\n')), input(pointer)]);
});
