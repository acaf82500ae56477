/** Where a follower begins that names a cursor. */

import { expect, it } from 'vitest';

import { beginAfter } from '../../../packages/copse/src/board/rules/term.ts';

const end = { term: 2, number: 5 };

it.each([
  ['of the present term', { term: 2, number: 3 }, { term: 2, number: 3 }, null],
  ['without a term', { term: undefined, number: 3 }, { term: 2, number: 3 }, null],
  [
    'of an earlier term, in which there were more events',
    { term: 1, number: 8 },
    { term: 1, number: 8 },
    null,
  ],
  ['of a term that the board never had', { term: 9, number: 3 }, { term: 2, number: 3 }, null],
  ['beyond the end', { term: 2, number: 7 }, end, { term: 2, from: 6, to: 7 }],
  [
    'of a term that the board never had, beyond the end',
    { term: 9, number: 7 },
    end,
    { term: 2, from: 6, to: 7 },
  ],
])('a cursor %s', (_, after, cursor, lost) => {
  expect(beginAfter(after, end)).toEqual({ cursor, lost });
});
