/** Records of nodes for tests. */

import { type NodeId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { type Node, type NodeFacts, evolveNode } from '../../../packages/copse/src/machines/rules/node.ts';

export const someFacts: NodeFacts = {
  version: '1.2.3',
  protocol: { oldest: 6, newest: 6 },
  labels: ['linux-box'],
  capabilities: {
    programs: ['claude'],
    agents: [{ name: 'coder', capabilities: ['typescript'] }],
    platform: ['linux', 'x64'],
    cpus: 8,
    memoryBytes: 16 * 1024 ** 3,
    isContainer: false,
  },
  slots: 4,
};

export function aNode(name: string, over: Partial<Omit<Node, 'name'>> = {}): Node {
  const id = brand<NodeId>(`n-${name}`);
  const node = evolveNode(undefined, {
    type: 'node.joined',
    id,
    at: timestamp(1_000),
    name,
    facts: someFacts,
  });
  return { ...node, ...over };
}
