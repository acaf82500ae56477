import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canTake,
  missingCapabilities,
  parseCapability,
} from '../../../packages/copse/src/tasks/rules/capabilities.ts';
import { brand, type AgentName } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

const agentName = (name: string): AgentName => brand<AgentName>(name);

describe('naming a capability', () => {
  test.each([
    ['typescript', 'typescript'],
    ['GPU', 'gpu'],
    [' code-review ', 'code-review'],
    ['node:22', 'node:22'],
    ['python:3.12', 'python:3.12'],
    ['cuda:12-x86', 'cuda:12-x86'],
    ['a', 'a'],
    ['x'.repeat(defaultPolicy.text.nameLength), 'x'.repeat(defaultPolicy.text.nameLength)],
  ])('%j is accepted and stored in lower case', (text, capability) => {
    expect(parseCapability(text)).toEqual({ kind: 'accepted', capability });
  });

  test.each([
    '',
    '   ',
    '-gpu',
    'gpu-',
    'code--review',
    'two words',
    'a,b',
    ':22',
    'node:',
    'node:22:1',
    'größe',
    'a\nb',
    'a/b',
    'x'.repeat(defaultPolicy.text.nameLength + 1),
  ])('%j is refused with a reason', (text) => {
    const parsed = parseCapability(text);
    expect(parsed.kind).toBe('refused');
    expect(parsed).toHaveProperty('reason', expect.stringMatching(/capability/));
  });

  test('an accepted capability is accepted again as it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'B', '2', '-', ':', '.', ' '), maxLength: 8 }),
        (text) => {
          const parsed = parseCapability(text);
          expect(parsed.kind === 'accepted' ? parseCapability(parsed.capability) : parsed).toEqual(parsed);
        },
      ),
    );
  });
});

describe('what an agent lacks', () => {
  test.each([
    [[], [], []],
    [[], ['gpu'], []],
    [['gpu'], ['gpu'], []],
    [['gpu', 'rust', 'gpu'], ['typescript'], ['gpu', 'rust']],
    [['node'], ['node:22'], []],
    [['node:22'], ['node'], ['node:22']],
    [['node:22'], ['node:24'], ['node:22']],
    [['node:22', 'node:24'], ['node:22', 'node:24'], []],
  ])('requiring %j of an agent that offers %j leaves %j', (required, offered, missing) => {
    expect(missingCapabilities(required, offered)).toEqual(missing);
  });

  test('is nothing when the agent offers all that is required, and never grows when it offers more', () => {
    const some = fc.array(fc.constantFrom('gpu', 'rust', 'node', 'node:22', 'node:24'));
    fc.assert(
      fc.property(some, some, some, (required, offered, more) => {
        expect(missingCapabilities(required, [...offered, ...required])).toEqual([]);
        const before = missingCapabilities(required, offered);
        for (const capability of missingCapabilities(required, [...offered, ...more]))
          expect(before).toContain(capability);
      }),
    );
  });
});

describe('taking a task', () => {
  const ada = { name: agentName('ada'), capabilities: ['typescript', 'node:22'] };

  test('an agent takes a task that names no agent and requires what it offers', () => {
    expect(canTake({ requires: ['node'], agent: null }, ada)).toEqual({ kind: 'can' });
  });

  test('a task that names an agent goes to that agent only', () => {
    expect(canTake({ requires: [], agent: agentName('ada') }, ada)).toEqual({ kind: 'can' });
    expect(canTake({ requires: [], agent: agentName('bob') }, ada)).toEqual({
      kind: 'cannot',
      reason: 'it is for agent bob, not for ada',
    });
  });

  test('a named agent still needs every capability, and the reason lists the missing ones', () => {
    expect(canTake({ requires: ['gpu', 'typescript', 'rust'], agent: agentName('ada') }, ada)).toEqual({
      kind: 'cannot',
      reason: 'it is for agent ada, which lacks gpu, rust',
    });
  });
});
