/** Paths and queries: by table, and never with a part that leads out of its folder. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseCursor } from '../../../packages/copse/src/board/rules/term.ts';
import { matchPath, parseTarget } from '../../../packages/copse/src/server/rules/target.ts';

const MOST = 200;

describe('the target of a request', () => {
  test.each([
    ['/', []],
    ['/api/v1/tasks', ['api', 'v1', 'tasks']],
    ['/triggers/my%20hook', ['triggers', 'my hook']],
    ['/api/v1/tasks?x=1', ['api', 'v1', 'tasks']],
  ])('%s has the parts %j', (text, segments) => {
    expect(parseTarget(text, MOST)?.segments).toEqual(segments);
  });

  test.each([
    '',
    '*',
    'api',
    'http://attacker.example/api',
    '//attacker.example/api',
    '/../etc/passwd',
    '/a/../b',
    '/a/./b',
    '/a//b',
    '/a/',
    '/%2e%2e/etc',
    '/%2E%2e%2fetc',
    '/a%2fb',
    '/a%5cb',
    '/a\\..\\b',
    '/a%00b',
    '/a%0d%0aSet-Cookie:x',
    '/%',
    '/%ff',
    '/a b',
    '/ü',
    '/a#b',
    '/a?x=1&x=2',
    '/a?%',
    `/${'a'.repeat(MOST)}`,
  ])('%j is none', (text) => {
    expect(parseTarget(text, MOST)).toBeUndefined();
  });

  test('has no part that leads elsewhere, whatever it is', () => {
    const part = fc.oneof(
      fc.constantFrom('.', '..', '%2e', '%2f', '/', '\\', '%5c', '%00', '%0a', '?', '#', 'a'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const target = parseTarget(`/${parts.join('')}`, MOST);
        for (const one of target?.segments ?? []) {
          expect(['', '.', '..']).not.toContain(one);
          expect(one).not.toMatch(/[/\\\0\r\n]/);
        }
      }),
    );
  });
});

test('a query has names and values', () => {
  const target = parseTarget('/a?after=1%3A2&ticket=x&empty', MOST);
  expect(Object.fromEntries(target?.query ?? [])).toEqual({ after: '1:2', ticket: 'x', empty: '' });
});

test.each([
  ['/tasks/{task}', ['tasks', 'a1'], { task: 'a1' }],
  ['/tasks/{task}', ['tasks'], undefined],
  ['/tasks', ['tasks'], {}],
  ['/tasks', ['tasks', 'a1'], undefined],
  ['/tasks', ['other'], undefined],
])('the path %s with %j: %j', (pattern, segments, found) => {
  expect(matchPath(pattern, segments)).toEqual(found);
});

test.each([
  ['12', { term: undefined, number: 12 }],
  ['2:12', { term: 2, number: 12 }],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1:', undefined],
  ['9'.repeat(16), undefined],
])('the cursor %j: %j', (text, cursor) => {
  expect(parseCursor(text)).toEqual(cursor);
});
