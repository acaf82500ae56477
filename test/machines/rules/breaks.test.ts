/** The breaks of `npm run test:breaks` still fit the product: otherwise a run would show nothing. */

import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { breaks } from '../breaks/breaks.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

it('every rule of the checker of several machines has a break of the product', () => {
  const text = read('test/machines/support/checker.ts');
  const rules = [...text.slice(0, text.indexOf('*/')).matchAll(/^ \* {3}([\w-]+) {2,}/gm)];
  expect(breaks.map(({ rule }) => rule)).toEqual(rules.map(([, rule]) => rule));
});

it.each(breaks.flatMap(({ rule, edits }) => edits.map((edit) => ({ rule, ...edit }))))(
  'the break for $rule finds its text once in $file',
  ({ file, find, put }) => {
    expect(read(`packages/copse/src/${file}`).split(find)).toHaveLength(2);
    expect(put).not.toBe(find);
  },
);
