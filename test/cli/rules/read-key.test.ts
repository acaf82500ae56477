/** Keys for `copse inbox`, where one key answers an agent. */

import { PassThrough } from 'node:stream';

import { expect, test } from 'vitest';

import { QUIT, STOP, readKey } from '../../../packages/copse/src/cli/inbox/read-key.ts';

test('an arrow key that a slow line brings in pieces is one key, and no answer', async () => {
  const input = new PassThrough();
  const key = readKey(input, null);
  for (const piece of ['\u001b', '[', 'A']) {
    input.write(piece);
    await new Promise(setImmediate);
  }
  expect(await key).not.toMatch(/[a-z]/i);
  input.write('y');
  expect(await readKey(input, null)).toBe('y');
});

test.each([
  ['a', 'a'],
  ['ü', 'ü'],
  ['\r', '\r'],
  ['\u0004', QUIT],
  ['\u0003', STOP],
  ['y\u0003', STOP],
  ['yes', 'yes'],
])('%j is %j', async (typed, key) => {
  const input = new PassThrough();
  input.write(typed);
  expect(await readKey(input, null)).toBe(key);
});
