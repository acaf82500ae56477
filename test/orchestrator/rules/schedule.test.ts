import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { areasOverlap, parseArea } from '../../../packages/copse/src/tasks/rules/areas/areas.ts';
import { type AgentName, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type BusyTask,
  Scheduler,
  type ScheduleFacts,
} from '../../../packages/copse/src/orchestrator/rules/schedule.ts';
import type { Delay } from '../../../packages/copse/src/tasks/rules/task.ts';

const now = timestamp(1_000_000);
const rules = { ...defaultPolicy.orchestration, maxAgents: 2 };
const claude = { name: brand<AgentName>('claude'), capabilities: ['typescript'], max: null };
const codex = { name: brand<AgentName>('codex'), capabilities: ['gpu', 'node:22'], max: 1 };

const facts: ScheduleFacts = {
  at: now,
  agents: [claude, codex],
  unusable: [],
  busy: [],
  freeMemoryBytes: null,
  freeDiskBytes: null,
};

interface Wanted {
  readonly areas?: readonly string[];
  readonly requires?: readonly string[];
  readonly agent?: string;
  readonly delay?: Delay;
}

let made = 0;
function task({ areas = [], requires = [], agent, delay }: Wanted = {}) {
  made += 1;
  return {
    id: brand<TaskId>(`cp-${made}`),
    state: { status: 'ready', since: now, delay: delay ?? null } as const,
    areas,
    requires,
    agent: agent === undefined ? null : brand<AgentName>(agent),
  };
}

function busy(id: string, of: Partial<BusyTask> = {}): BusyTask {
  return { id: brand<TaskId>(id), areas: [], agentHere: null, ...of };
}

const schedule = (changed: Partial<ScheduleFacts> = {}, limits: Partial<typeof rules> = {}) =>
  new Scheduler({ ...facts, ...changed }, { ...rules, ...limits });

describe('a ready task', () => {
  it('starts with the first agent that may take it', () => {
    expect(schedule().place(task())).toMatchObject({ kind: 'placed', agent: 'claude' });
    expect(schedule().place(task({ requires: ['node'] }))).toMatchObject({ kind: 'placed', agent: 'codex' });
    expect(schedule().place(task({ agent: 'codex' }))).toMatchObject({ kind: 'placed', agent: 'codex' });
  });

  it('waits for its delay, to the millisecond', () => {
    const until = (ms: number): Delay => ({ until: timestamp(now + ms), because: 'crash' });
    expect(schedule().place(task({ delay: until(1) }))).toMatchObject({
      kind: 'waiting',
      waiting: { kind: 'delay' },
    });
    expect(schedule().place(task({ delay: until(0) }))).toMatchObject({ kind: 'placed' });
  });

  it('waits for the main checkout while processes of an ended attempt of another task work there', () => {
    const there = { ...claude, isInCheckout: true };
    const [one, other] = [task(), task()];
    const left = schedule({ agents: [there], leftInCheckout: [one.id] });
    expect(left.place(other)).toMatchObject({ waiting: { kind: 'checkout', task: one.id } });
    expect(left.place(one)).toMatchObject({ kind: 'placed', agent: 'claude' });
    const beside = schedule({ agents: [there, codex], leftInCheckout: [one.id] });
    expect(beside.place(other)).toMatchObject({ kind: 'placed', agent: 'codex' });
  });

  it('that no agent may take has a reason for each agent', () => {
    expect(schedule().place(task({ requires: ['rust'] }))).toMatchObject({
      kind: 'waiting',
      waiting: {
        kind: 'agent',
        reasons: [expect.stringMatching(/claude lacks rust/), expect.stringMatching(/codex/)],
      },
    });
    expect(schedule({ agents: [] }).place(task())).toMatchObject({
      waiting: { reasons: ['no agent is installed or configured'] },
    });
  });

  it('for one agent that cannot take it has a reason for that agent alone', () => {
    expect(schedule().place(task({ agent: brand<AgentName>('codex'), requires: ['rust'] }))).toMatchObject({
      waiting: { reasons: ['it is for agent codex, which lacks rust'] },
    });
    expect(schedule().place(task({ agent: brand<AgentName>('gone') }))).toMatchObject({
      waiting: { reasons: ['it is for agent gone, which is not in the accepted copse.yml'] },
    });
  });

  it('waits while other work is in its area: here, elsewhere, by hand or in the queue', () => {
    const other = busy('cp-other', { areas: ['src/auth/**'] });
    expect(schedule({ busy: [other] }).place(task({ areas: ['src/**'] }))).toEqual({
      kind: 'waiting',
      task: expect.anything(),
      waiting: { kind: 'area', task: 'cp-other', areas: ['src/**', 'src/auth/**'] },
    });
    expect(schedule({ busy: [other] }).place(task({ areas: ['docs/**'] }))).toMatchObject({ kind: 'placed' });
    expect(schedule({ busy: [other] }).place(task())).toMatchObject({ kind: 'placed' });
  });

  it('waits for another that started just before it in its area', () => {
    const one = schedule();
    expect(one.place(task({ areas: ['src/a.ts'] }))).toMatchObject({ kind: 'placed' });
    expect(one.place(task({ areas: ['src/a.ts'] }))).toMatchObject({ waiting: { kind: 'area' } });
    expect(one.place(task({ areas: ['src/b.ts'] }))).toMatchObject({ kind: 'placed' });
  });

  it('waits when all agents that could take it are at their limit of sessions', () => {
    const running = busy('cp-1', { agentHere: codex.name });
    expect(schedule({ busy: [running] }).place(task({ requires: ['gpu'] }))).toMatchObject({
      waiting: { kind: 'agent_limit', limits: [{ agent: 'codex', max: 1 }] },
    });
  });

  // setting: policy.max_agents
  it('waits when the machine is at its limit of sessions; those elsewhere do not count', () => {
    const here = [busy('cp-1', { agentHere: claude.name }), busy('cp-2', { agentHere: claude.name })];
    expect(schedule({ busy: here }).place(task())).toMatchObject({ waiting: { kind: 'node_limit', max: 2 } });
    expect(schedule({ busy: here }).isFull).toBe(true);
    const elsewhere = [busy('cp-1'), busy('cp-2'), busy('cp-3')];
    expect(schedule({ busy: elsewhere }).place(task())).toMatchObject({ kind: 'placed' });
  });

  it.each([
    ['memory', 'freeMemoryBytes', 'minFreeMemoryBytes'],
    ['disk', 'freeDiskBytes', 'minFreeDiskBytes'],
  ] as const)('waits for %s below the minimum, and not if the system gives no number', (what, fact, rule) => {
    expect(schedule({ [fact]: 99 }, { [rule]: 100 }).place(task())).toMatchObject({
      waiting: { kind: what },
    });
    expect(schedule({ [fact]: 100 }, { [rule]: 100 }).place(task())).toMatchObject({ kind: 'placed' });
    expect(schedule({ [fact]: null }, { [rule]: 100 }).place(task())).toMatchObject({ kind: 'placed' });
  });

  it('that cannot start does not block tasks that can', () => {
    const one = schedule({ busy: [busy('cp-1', { areas: ['src/**'] })] });
    expect(one.place(task({ areas: ['src/**'] }))).toMatchObject({ kind: 'waiting' });
    expect(one.place(task())).toMatchObject({ kind: 'placed' });
  });
});

const anyTask = fc.record({
  areas: fc.array(fc.constantFrom('src/**', 'src/a.ts', 'docs/**', 'test/*.ts', '**/*.md'), { maxLength: 2 }),
  requires: fc.array(fc.constantFrom('gpu', 'typescript', 'node'), { maxLength: 2 }),
});

it('limits hold and no two running tasks share an area, for any input', () => {
  fc.assert(
    fc.property(fc.array(anyTask, { maxLength: 20 }), fc.integer({ min: 1, max: 6 }), (wanted, maxAgents) => {
      const tasks = wanted.map((one) => task(one));
      const one = schedule({}, { maxAgents });
      const started = tasks.filter((candidate) => one.place(candidate).kind === 'placed');
      expect(started.length).toBeLessThanOrEqual(maxAgents);
      const areas = started.map((candidate) =>
        candidate.areas.flatMap((text) => {
          const parsed = parseArea(text);
          return parsed.kind === 'accepted' ? [parsed.area] : [];
        }),
      );
      for (const [index, left] of areas.entries())
        for (const right of areas.slice(index + 1)) expect(areasOverlap(left, right).kind).toBe('apart');
    }),
  );
});
