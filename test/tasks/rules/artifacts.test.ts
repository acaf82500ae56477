import { describe, expect, test } from 'vitest';

import {
  type ArtifactId,
  type NodeId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type Artifact,
  checkFileName,
  checkUri,
  isAddedResult,
  isUri,
  refuseTooMany,
} from '../../../packages/copse/src/tasks/rules/ledger.ts';

describe('a URI', () => {
  test.each([
    'https://example.com/a?b=c#d',
    's3://bucket/key',
    'urn:isbn:0451450523',
    'mailto:a@example.com',
    'https://user@host/',
  ])('%s is accepted as it is', (text) => expect(checkUri(text)).toEqual({ kind: 'accepted', text }));

  test.each([
    ['a path', './a.png', 'is not a URI'],
    ['nothing', '', 'is not a URI'],
    ['no host', 'http://', 'is not a URI'],
    ['an escape sequence', 'https://a.b/\x1b]0;x\x07', 'control'],
    ['a line break', 'https://a.b/\nTask: x', 'line breaks'],
    ['a space', 'https://a.b/c d', 'spaces'],
    ['an override of the direction', 'https://a.b/\u202egnp', 'invisible'],
    ['half a character', 'https://a.b/\ud800', 'control'],
    ['a password', 'https://a:b@c.d/', 'password'],
    ['ten megabytes', `https://a.b/${'x'.repeat(10_000_000)}`, 'at most 2048 characters'],
  ])('is refused: %s', (_, text, reason) => {
    expect(checkUri(text)).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) as string });
  });

  test.each([
    ['https://x', true],
    ['s3:x', true],
    ['report.pdf', false],
    ['./a:b', false],
    ['/a:b', false],
    ['C:file', false],
  ])('%s is told from a file', (text, is) => expect(isUri(text)).toBe(is));
});

test.each([
  ['of git', '.git'],
  ['of git in capitals', '.GIT'],
  ['a folder', 'a/b'],
  ['a way out', '..'],
  ['a way out of Windows', '..\\x'],
  ['nothing', ''],
  ['an escape sequence', 'a\x1b[2J.png'],
  ['an override of the direction', 'a\u202egnp.exe'],
  ['ten megabytes', 'x'.repeat(10_000_000)],
])('the name of a file is refused: %s', (_, name) => {
  expect(checkFileName(name).kind).toBe('refused');
});

test.each(['report.pdf', '-x', 'ü 林 😀.png', '.hidden'])('the name of a file is accepted: %s', (name) => {
  expect(checkFileName(name)).toEqual({ kind: 'accepted', text: name });
});

describe('a task', () => {
  const { perTask, taskBytes } = defaultPolicy.artifacts;
  const file = (number: number, bytes: number): Artifact => ({
    id: brand<ArtifactId>(`ar-${number}`),
    task: brand<TaskId>('cp-0001'),
    kind: 'file',
    address: `sha256:${number}`,
    title: null,
    at: timestamp(0),
    content: { name: 'x', bytes, sha256: String(number), node: brand<NodeId>('n-1') },
    session: null,
  });
  const many = (count: number, bytes: number) => Array.from({ length: count }, (_, at) => file(at, bytes));

  test('has so many artifacts of people and agents, and those of Copse do not count', () => {
    expect(refuseTooMany(many(perTask, 1), 0)).toContain(`at most ${perTask} artifacts`);
    const commits = Array.from({ length: perTask }, (): Artifact => ({ ...file(1, 1), kind: 'commit' }));
    expect(refuseTooMany(commits, 0)).toBeUndefined();
  });

  test('has so many bytes of files, each content once', () => {
    expect(refuseTooMany([file(1, taskBytes - 5), file(1, taskBytes - 5)], 5)).toBeUndefined();
    expect(refuseTooMany([file(1, taskBytes - 5)], 6)).toContain('add its URI');
  });
});

test('the address of a pull request, which Copse records, is not the result of work without code', () => {
  expect(isAddedResult({ kind: 'uri' })).toBe(false);
  expect(isAddedResult({ kind: 'uri', session: null })).toBe(true);
});
