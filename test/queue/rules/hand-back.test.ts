import { describe, expect, it } from 'vitest';

import { type AgentName, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import {
  type HandbackFacts,
  type Recipient,
  decideRecipient,
  landingToResolve,
} from '../../../packages/copse/src/queue/rules/hand-back.ts';

const agent = brand<AgentName>('claude');
const other = [brand<TaskId>('cp-other')];

const red = { because: 'checks', isTimeout: false } as const;
const slow = { because: 'checks', isTimeout: true } as const;
const conflict = { because: 'conflict', with: other, isTimeout: false } as const;
/** Merges that revert others' work, or histories without a common commit: there are no two sides to bring together. */
const oneSided = { because: 'conflict', isTimeout: false } as const;

const facts: HandbackFacts = {
  cause: red,
  onConflict: 'handback',
  isResolver: false,
  agent,
  isPersonWaiting: false,
};

const toAgent: Recipient = { kind: 'agent', agent };
const toResolver: Recipient = { kind: 'resolver' };
const toPerson: Recipient = { kind: 'person' };

describe('a change that the queue cannot land goes', () => {
  it.each<[string, Partial<HandbackFacts>, Recipient]>([
    ['red, to its agent', {}, toAgent],
    ['red, to its agent whatever on_conflict says', { onConflict: 'skip' }, toAgent],
    ['red, without an agent here, to a person', { agent: null }, toPerson],
    ['too slow, to a person', { cause: slow }, toPerson],
    ['too slow, to a person also with on_conflict: task', { cause: slow, onConflict: 'task' }, toPerson],
    ['in conflict, to its agent', { cause: conflict }, toAgent],
    ['in conflict, without an agent here, to a person', { cause: conflict, agent: null }, toPerson],
    [
      'in conflict with on_conflict: task, to a resolver',
      { cause: conflict, onConflict: 'task' },
      toResolver,
    ],
    [
      'in conflict with on_conflict: task, to a resolver also without an agent here',
      { cause: conflict, onConflict: 'task', agent: null },
      toResolver,
    ],
    ['in conflict with on_conflict: skip, to a person', { cause: conflict, onConflict: 'skip' }, toPerson],
    [
      'with one side only and on_conflict: task, to a person',
      { cause: oneSided, onConflict: 'task' },
      toPerson,
    ],
    ['with one side only, to its agent', { cause: oneSided }, toAgent],
    [
      'a resolver in conflict, to its agent: no resolver gets a resolver',
      { cause: conflict, onConflict: 'task', isResolver: true },
      toAgent,
    ],
    [
      'a resolver in conflict with on_conflict: skip, to its agent',
      { cause: conflict, onConflict: 'skip', isResolver: true },
      toAgent,
    ],
    ['red while a person waits for it, to that person', { isPersonWaiting: true }, toPerson],
    [
      'in conflict while a person waits for it, to that person and not to a resolver',
      { cause: conflict, onConflict: 'task', isPersonWaiting: true },
      toPerson,
    ],
  ])('%s', (_, more, recipient) => {
    expect(decideRecipient({ ...facts, ...more })).toEqual(recipient);
  });
});

it('only the work item of a conflict names a landing to resolve', () => {
  expect(landingToResolve({ workItem: { source: 'conflict', id: 'la-1', url: null } })).toBe('la-1');
  expect(landingToResolve({ workItem: { source: 'github', id: '1', url: null } })).toBeUndefined();
  expect(landingToResolve({ workItem: null })).toBeUndefined();
});
