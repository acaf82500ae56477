import { expect, test } from 'vitest';

import { reviewComment } from '../../../packages/copse/src/review/rules/line-comments.ts';

test('comments on lines are one text: the whole first, then each line with its place', () => {
  const lines = [
    { path: 'a b.ts', line: 9, endLine: 7, text: ' Shorter. ' },
    { path: 'old.ts', line: 3, side: 'old' as const, text: 'Why did it go?' },
  ];
  expect(reviewComment({ comment: 'Nearly.', lines, head: '1f2e3d4c5b6a' })).toBe(
    'Nearly.\n\nComments on lines of commit 1f2e3d4c5b:\n\na b.ts:7-9\nShorter.\n\nold.ts:3 (before the change)\nWhy did it go?',
  );
  expect(reviewComment({ comment: 'Only this.' })).toBe('Only this.');
});

test('a path with a line feed does not look like another comment', () => {
  const lines = [{ path: 'a\nb.ts:1', line: 1, text: 'x' }];
  expect(reviewComment({ lines })).toBe(String.raw`Comments on lines:` + '\n\n"a\\nb.ts:1":1\nx');
});
