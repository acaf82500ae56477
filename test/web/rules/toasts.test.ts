import { expect, test } from 'vitest';

import {
  type Toast,
  noToasts,
  withToast,
  withoutToast,
} from '../../../packages/web/src/parts/shown-toasts.ts';

const done: Toast = { text: 'cp-b restarted.' };
const refused: Toast = {
  text: 'The server is away.',
  isProblem: true,
  next: ["copse restart cp-a --answer 'No'"],
};
const other: Toast = {
  text: 'The server is away.',
  isProblem: true,
  next: ["copse restart cp-b --answer 'Yes'"],
};

const failed: Toast = { ...refused, about: 'cp-a' };

test.each<[string, readonly Toast[], readonly Toast[]]>([
  ['the last one is shown', [{ text: 'earlier' }, done], [done]],
  ['a problem stays when something else is done', [refused, done], [refused, done]],
  ['a problem does not replace what can be undone', [done, refused], [refused, done]],
  ['each problem stays', [refused, other], [refused, other]],
  ['a problem replaces what was said of the same', [{ ...done, about: 'cp-a' }, failed], [failed]],
  [
    'a problem of another does not',
    [{ ...done, about: 'cp-b' }, failed],
    [failed, { ...done, about: 'cp-b' }],
  ],
  ['the same problem is shown once', [refused, other, { ...refused }], [other, refused]],
])('%s', (_, toasts, expected) => {
  let shown = noToasts;
  for (const toast of toasts) shown = withToast(shown, toast);
  expect([...shown.problems, ...(shown.last ? [shown.last] : [])]).toStrictEqual(expected);
});

test('closing one leaves the others', () => {
  const shown = [refused, other, done].reduce(withToast, noToasts);
  expect(withoutToast(shown, refused)).toStrictEqual({ problems: [other], last: done });
  expect(withoutToast(shown, done)).toStrictEqual({ problems: [refused, other], last: undefined });
});
