/** Paths and queries: by table, and never with a part that leads out of its folder. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseCursor } from '../../../packages/copse/src/board/rules/term.ts';
import { matchPath, parseTarget, targetProblem } from '../../../packages/copse/src/server/rules/target.ts';

const MOST = 200;

describe('the target of a request', () => {
  test.each([
    ['/', []],
    ['/api/v1/tasks', ['api', 'v1', 'tasks']],
    ['/triggers/my%20hook', ['triggers', 'my hook']],
    ['/api/v1/tasks?x=1', ['api', 'v1', 'tasks']],
    // An encoded slash belongs to its part, and divides nothing.
    ['/schedules/agent%2Fnightly/run', ['schedules', 'agent/nightly', 'run']],
    ['/a%2fb', ['a/b']],
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
    '/%2f',
    '/a%2f',
    '/%2fetc%2fpasswd',
    '/a%2f%2fb',
    '/a%2f..%2fb',
    '/a%2f%2e%2e',
    '/a%2f.%2fb',
    '/a%2fb%5c..',
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
          for (const name of one.split('/')) expect(['', '.', '..']).not.toContain(name);
          expect(one).not.toMatch(/[\\\0\r\n]/);
        }
      }),
    );
  });
});

describe('a target that is none says why', () => {
  test.each([
    ['/a?x=1&x=2', 'The query has the field "x" twice.'],
    ['/a?x=%', 'A % in the address is not followed by two digits of UTF-8 text: "x=%".'],
    ['/a/%ff', 'A % in the address is not followed by two digits of UTF-8 text: "%ff".'],
    ['/a/', 'The path has an empty part: remove the slash at its end.'],
    ['/a//b', 'The path has an empty part: "//".'],
    ['/a/../b', 'The path has a part that no path has here: "..".'],
    ['/a%5cb', 'The path has a part that no path has here: "a\\\\b".'],
    [`/${'a'.repeat(MOST)}`, 'The address has 201 characters, and at most 200 are read.'],
    ['http://attacker.example/api', 'The address must begin with a slash, and have only visible ASCII.'],
  ])('%s', (text, sentence) => {
    expect(parseTarget(text, MOST)).toBeUndefined();
    expect(targetProblem(text, MOST)).toBe(sentence);
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
