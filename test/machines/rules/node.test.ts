import { describe, expect, it } from 'vitest';

import { type NodeId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type Arrival,
  type Node,
  type NodeEvent,
  decideDrain,
  decideJoin,
  decideLeave,
  decideRename,
  decideResumeNode,
  evolveNode,
  isGone,
  nodesBelow,
  parseNodeName,
  readNode,
} from '../../../packages/copse/src/machines/rules/node.ts';
import type { Decision } from '../../../packages/copse/src/kernel/decision.ts';
import { aNode, someFacts } from '../../support/machines/nodes.ts';

const policy = defaultPolicy.nodes;
const at = timestamp(5_000);
const arrival: Arrival = {
  name: null,
  hostName: 'desk.local',
  facts: { ...someFacts, labels: null },
  clockOffsetMs: null,
};
const id = brand<NodeId>('n-new');

function after(node: Node | undefined, decision: Decision<NodeEvent> | null): Node {
  if (decision === null || decision.kind === 'refused') throw new Error(JSON.stringify(decision));
  return decision.events.reduce<Node | undefined>(evolveNode, node) as Node;
}

function reasonOf(decision: Decision<NodeEvent> | null): string {
  return decision?.kind === 'refused' ? decision.refusal.reason : '';
}

describe('a node that joins', () => {
  it('has the name of its host, and what it told', () => {
    const joined = after(undefined, decideJoin(id, undefined, arrival, [], policy, at));
    expect(joined).toMatchObject({
      name: 'desk.local',
      leftAt: null,
      drain: null,
      facts: { ...someFacts, labels: [] },
    });
  });

  it('gets a name of its own when another clone on the host has the name', () => {
    const others = [aNode('desk.local'), aNode('desk.local-2')];
    const joined = after(undefined, decideJoin(id, undefined, arrival, others, policy, at));
    expect(joined.name).toBe('desk.local-3');
  });

  it('may take the name of a node that left, and no other', () => {
    const asked = { ...arrival, name: 'Build-1' };
    const refused = decideJoin(id, undefined, asked, [aNode('build-1')], policy, at);
    expect(reasonOf(refused)).toBe('Another node has the name build-1: n-build-1.');
    const free = decideJoin(id, undefined, asked, [aNode('build-1', { leftAt: at })], policy, at);
    expect(after(undefined, free).name).toBe('Build-1');
  });

  it('records nothing when nothing changed', () => {
    const joined = after(undefined, decideJoin(id, undefined, arrival, [], policy, at));
    expect(decideJoin(id, joined, arrival, [], policy, at)).toBeNull();
    expect(decideJoin(id, { ...joined, name: 'mine' }, arrival, [], policy, at)).toBeNull();
  });

  it('keeps its labels until it is told others', () => {
    const labelled = { ...arrival, facts: { ...someFacts, labels: ['gpu'] } };
    const joined = after(undefined, decideJoin(id, undefined, labelled, [], policy, at));
    expect(decideJoin(id, joined, arrival, [], policy, at)).toBeNull();
    const none = { ...arrival, facts: { ...someFacts, labels: [] } };
    expect(after(joined, decideJoin(id, joined, none, [], policy, at)).facts?.labels).toEqual([]);
  });

  it('records its clock offset again only after a step', () => {
    const joined = aNode('desk', { clockOffsetMs: 100 });
    const as = (clockOffsetMs: number) => ({ ...arrival, facts: someFacts, clockOffsetMs });
    expect(decideJoin(joined.id, joined, as(1_900), [], policy, at)).toBeNull();
    expect(after(joined, decideJoin(joined.id, joined, as(3_600_000), [], policy, at)).clockOffsetMs).toBe(
      3_600_000,
    );
  });

  it('takes work again if a signal drained it, and drains on if a person did', () => {
    const drained = (by: 'person' | 'signal') => aNode('desk', { drain: { since: at, withinMs: 0, by } });
    const told = { ...arrival, facts: someFacts };
    expect(
      after(drained('signal'), decideJoin(id, drained('signal'), told, [], policy, at)).drain,
    ).toBeNull();
    expect(decideJoin(id, drained('person'), told, [], policy, at)).toBeNull();
  });

  it('that had left is present again', () => {
    const gone = aNode('desk', { leftAt: timestamp(2_000) });
    expect(after(gone, decideJoin(gone.id, gone, arrival, [], policy, at))).toMatchObject({
      name: 'desk',
      leftAt: null,
      joinedAt: at,
    });
  });
});

describe('a record of an older Copse', () => {
  it('reads as a node of which only the name is known', () => {
    const { facts: _f, clockOffsetMs: _c, drain: _d, ...old } = aNode('old');
    expect(readNode(old as Node)).toEqual({ ...old, facts: null, clockOffsetMs: null, drain: null });
  });

  it('comes from an event that has only a name', () => {
    const event = { type: 'node.joined', id, at, name: 'old' } as const;
    expect(evolveNode(undefined, event)).toEqual({
      id,
      name: 'old',
      joinedAt: at,
      leftAt: null,
      facts: null,
      clockOffsetMs: null,
      drain: null,
    });
  });
});

describe('a node that drains', () => {
  const drained = after(aNode('desk'), decideDrain(aNode('desk'), { withinMs: 60_000, by: 'person' }, at));

  it('records since when, and how long its work may go on', () => {
    expect(drained.drain).toEqual({ since: at, withinMs: 60_000, by: 'person' });
  });

  it('may be given another deadline', () => {
    const sooner = decideDrain(drained, { withinMs: 0, by: 'person' }, timestamp(6_000));
    expect(after(drained, sooner).drain).toEqual({ since: 6_000, withinMs: 0, by: 'person' });
  });

  it('takes work again when it is resumed, once', () => {
    const resumed = after(drained, decideResumeNode(drained, at));
    expect(resumed.drain).toBeNull();
    expect(reasonOf(decideResumeNode(resumed, at))).toBe('Cannot resume node desk: it is not draining.');
  });
});

describe('a node that leaves', () => {
  const held = [brand<TaskId>('cp-1'), brand<TaskId>('cp-2')];
  const live = { held: [], silentMs: 1_000 };

  it('is refused while it has work, with the command that moves the work', () => {
    expect(decideLeave(aNode('desk'), { held, silentMs: 1_000 }, policy, at)).toEqual({
      kind: 'refused',
      refusal: {
        code: 'wrong_status',
        reason: 'Node desk cannot leave: it has cp-1 and 1 more in progress.',
        next: ['copse node drain desk'],
      },
    });
  });

  it('is refused while its orchestrator takes work', () => {
    expect(reasonOf(decideLeave(aNode('desk'), live, policy, at))).toBe(
      'Node desk cannot leave while its orchestrator takes work.',
    );
  });

  it('leaves when it drained, and when it is silent', () => {
    const drained = aNode('desk', { drain: { since: at, withinMs: 0, by: 'person' } });
    expect(after(drained, decideLeave(drained, live, policy, at)).leftAt).toBe(at);
    for (const silentMs of [policy.silentMs + 1, null])
      expect(decideLeave(aNode('desk'), { held: [], silentMs }, policy, at).kind).toBe('decided');
  });

  it('is refused everything afterwards', () => {
    const gone = aNode('desk', { leftAt: at });
    const left = 'it left the board.';
    expect(reasonOf(decideLeave(gone, live, policy, at))).toContain(left);
    expect(reasonOf(decideDrain(gone, { withinMs: 1, by: 'person' }, at))).toContain(left);
    expect(reasonOf(decideResumeNode(gone, at))).toContain(left);
    expect(reasonOf(decideRename(gone, 'other', [], at))).toContain(left);
  });
});

describe('a name of a node', () => {
  it.each(['build-1', 'desk.local', 'A', '10.0.0.1'])('may be %j', (name) => {
    expect(parseNodeName(` ${name} `)).toEqual({ kind: 'accepted', name });
  });

  it.each(['', '  ', '-x', 'a b', 'a/b', 'ü', 'n-0123456789ab', 'x'.repeat(64), '\u001B[31m'])(
    'may not be %j',
    (name) => {
      expect(parseNodeName(name).kind).toBe('refused');
    },
  );

  it('is refused while another node has it', () => {
    const desk = aNode('desk');
    expect(reasonOf(decideRename(desk, 'build', [aNode('build')], at))).toContain(
      'Another node has the name',
    );
    expect(reasonOf(decideRename(desk, 'desk', [], at))).toBe('Node desk already has this name.');
    expect(after(desk, decideRename(desk, 'lab', [aNode('build')], at)).name).toBe('lab');
  });
});

describe('before the board is migrated', () => {
  it('live nodes of an older Copse are named; silent, newer and left ones are not', () => {
    const newer = { ...someFacts, protocol: { oldest: 6, newest: 7 } };
    const nodes = [
      aNode('old'),
      aNode('unknown', { facts: null }),
      aNode('silent'),
      aNode('never'),
      aNode('new', { facts: newer }),
      aNode('left', { leftAt: at }),
    ];
    const silence = (node: NodeId) => (node === 'n-silent' ? 3_600_000 : node === 'n-never' ? null : 1_000);
    expect(nodesBelow(nodes, 7, silence, policy).map(({ name }) => name)).toEqual(['old', 'unknown']);
  });
});

describe('what only one node has may not come back', () => {
  it.each([
    ['it left', { leftAt: at }, 0, true],
    ['it is silent for longer than its agents work without the board', { leftAt: null }, 120_001, true],
    ['not yet: its agents may still work', { leftAt: null }, 120_000, false],
    ['not yet: it was never heard from', { leftAt: null }, null, false],
  ] as const)('%s', (_, node, silentMs, expected) => {
    expect(isGone(node, silentMs, defaultPolicy)).toBe(expected);
  });

  it('never sooner than a node counts as silent', () => {
    const quick = { ...defaultPolicy, lease: { ...defaultPolicy.lease, durationMs: 1_000 } };
    expect(isGone({ leftAt: null }, policy.silentMs, quick)).toBe(false);
    expect(isGone({ leftAt: null }, policy.silentMs + 1, quick)).toBe(true);
  });
});
