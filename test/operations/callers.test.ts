/** Who may call an operation, on every surface. */

import { expect, test } from 'vitest';

import { refuseSession } from '../../packages/copse/src/operations/callers.ts';
import type { Operation } from '../../packages/copse/src/operations/operation.ts';
import { operations } from '../../packages/copse/src/operations/registry.ts';

function operation(name: string): Operation {
  const found = operations.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}`);
  return found;
}

const add = operation('task.add');
const input = { title: 'One more' };

test.each([
  ['a person', {}],
  ['a session', { COPSE_SESSION_ID: 'se-1', COPSE_TOKEN: '1' }],
])('%s may add a task', (_, env) => {
  expect(() => refuseSession(add, env, input)).not.toThrow();
});

test.each([
  ['a session without its token', { COPSE_SESSION_ID: 'se-1' }],
  ['a sandbox without a session', { COPSE_SANDBOX: 'runtime' }],
])('a process of %s may read, and may not add a task', (_, env) => {
  expect(() => refuseSession(operation('task.list'), env, {})).not.toThrow();
  expect(() => refuseSession(add, env, input)).toThrow(/without its token may not call task\.add/);
});
