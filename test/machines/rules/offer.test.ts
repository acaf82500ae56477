import { describe, expect, it } from 'vitest';

import { type AgentName, type NodeId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { agentCanTake, nodeCanTake, nodeTakesNow } from '../../../packages/copse/src/machines/rules/offer.ts';
import { aNode, someFacts } from '../../support/machines/nodes.ts';

const wants = (...requires: string[]) => ({ requires, agent: null });
const desk = aNode('desk');

function lacks(task: Parameters<typeof nodeCanTake>[0], node = desk): string | null {
  const decision = nodeCanTake(task, node);
  return decision.kind === 'can' ? null : decision.reason;
}

describe('a requirement', () => {
  it.each(['typescript', 'linux-box', 'claude', 'linux', 'x64', 'cpus:8', 'cpus:2', 'memory:16'])(
    '%s is met by the agent or by its node',
    (requirement) => {
      expect(lacks(wants(requirement))).toBeNull();
      const coder = { name: brand<AgentName>('coder'), capabilities: ['typescript'] };
      expect(agentCanTake(wants(requirement), coder, desk.facts)).toEqual({ kind: 'can' });
    },
  );

  it.each(['gpu', 'container', 'cpus:9', 'memory:17', 'cpus:many', 'codex'])(
    '%s that neither has is named',
    (requirement) => {
      expect(lacks(wants(requirement, 'linux'))).toBe(`node desk lacks ${requirement}`);
    },
  );

  it('container is met in a container', () => {
    const capabilities = { ...someFacts.capabilities, isContainer: true };
    expect(lacks(wants('container'), aNode('pod', { facts: { ...someFacts, capabilities } }))).toBeNull();
  });

  it('is not met by what two agents have together', () => {
    const agents = [
      { name: 'one', capabilities: ['rust'] },
      { name: 'two', capabilities: ['sql'] },
    ];
    const facts = { ...someFacts, capabilities: { ...someFacts.capabilities, agents } };
    expect(lacks(wants('rust', 'sql'), aNode('desk', { facts }))).toBe('node desk lacks sql');
  });
});

describe('a node cannot take a task', () => {
  const drain = { since: timestamp(1), withinMs: 0, by: 'person' } as const;

  it.each([
    ['when it drains', wants(), aNode('desk', { drain }), 'node desk is draining'],
    ['when it left', wants(), aNode('desk', { leftAt: timestamp(1) }), 'node desk left'],
    ['when it told nothing', wants(), aNode('desk', { facts: null }), 'node desk did not say what it can do'],
    [
      'for an agent that it lacks',
      { requires: [], agent: brand<AgentName>('writer') },
      desk,
      'node desk lacks the agent writer',
    ],
    [
      'that a person moved elsewhere',
      { ...wants(), moveTo: { node: brand<NodeId>('n-other'), name: 'other' } },
      desk,
      'it was moved to node other',
    ],
  ] as const)('%s', (_, task, node, reason) => {
    expect(lacks(task, node)).toBe(reason);
  });

  it('now, when it was not heard from', () => {
    const { nodes } = defaultPolicy;
    expect(nodeTakesNow(wants(), desk, 1_000, nodes)).toEqual({ kind: 'can' });
    expect(nodeTakesNow(wants(), desk, 3 * 3_600_000, nodes)).toEqual({
      kind: 'cannot',
      reason: 'node desk was not heard from for 3 h',
    });
    expect(nodeTakesNow(wants(), desk, null, nodes)).toEqual({
      kind: 'cannot',
      reason: 'node desk was never heard from',
    });
  });
});
