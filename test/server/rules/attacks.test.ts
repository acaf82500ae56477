/** The checks that `npm run test:attacks` removes are still there, and so are the attacks: otherwise a run would show nothing. */

import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { removedChecks } from '../attacks/checks.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

it.each(removedChecks.flatMap(({ check, edits }) => edits.map((edit) => ({ check, ...edit }))))(
  'the text of "$check" is once in $file',
  ({ file, find, put }) => {
    expect(read(`packages/copse/src/${file}`).split(find)).toHaveLength(2);
    expect(put).not.toBe(find);
  },
);

it.each(removedChecks)(
  '"$check" has attacks, each in a describe or test of its files',
  ({ attacks, tests }) => {
    const text = (tests ?? ['faults/entry']).map((name) => read(`test/server/${name}.test.ts`)).join('\n');
    expect(attacks.length).toBeGreaterThan(0);
    for (const attack of attacks) expect(text).toContain(attack.split(' > ')[0]);
  },
);

it('no check is removed twice under one name', () => {
  const names = removedChecks.map(({ check }) => check);
  expect(new Set(names).size).toBe(names.length);
});

it('every header that keeps browsers from using answers elsewhere is removed once', () => {
  const [, list = ''] =
    /SAFE_HEADERS[^{]*\{([^}]*)\}/.exec(read('packages/copse/src/server/answer.ts')) ?? [];
  const headers = Array.from(list.matchAll(/^ {2}'([\w-]+)':/gm), ([, name]) => `the header ${name}`);
  expect(headers.length).toBeGreaterThan(4);
  expect(removedChecks.map(({ check }) => check)).toEqual(expect.arrayContaining(headers));
});
