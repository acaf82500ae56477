import { expect, test } from 'vitest';

import { questionShown } from '../../../packages/web/src/pages/task/question-shown.ts';

const [first, second] = [{ id: 'q1' }, { id: 'q2' }];

test.each([
  ['the question of now', second, null, 'q2', true],
  ['none', null, null, undefined, true],
  ['the one that is being answered', first, first, 'q1', true],
  ['the one that is being answered, which waits no more', second, first, 'q1', false],
  ['the one that was answered elsewhere', null, first, 'q1', false],
])('%s is shown', (_, latest, answered, expected, canBeSent) => {
  const { question, refusal } = questionShown(latest, answered);
  expect([question?.id, refusal === undefined]).toStrictEqual([expected, canBeSent]);
});
