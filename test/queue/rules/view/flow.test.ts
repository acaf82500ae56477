import { expect, it } from 'vitest';

import type { BoardEvent } from '../../../../packages/copse/src/board/rules/event.ts';
import { FlowCount } from '../../../../packages/copse/src/queue/rules/view/flow.ts';
import { timestamp } from '../../../../packages/copse/src/kernel/ids.ts';

const created = (id: string, at: number) => ({ type: 'task.created', id, at }) as unknown as BoardEvent;
const queued = (task: string, at: number) =>
  ({ type: 'landing.queued', id: `la-${task}`, task, at }) as unknown as BoardEvent;
const landed = (task: string, at: number) =>
  ({ type: 'landing.landed', id: `la-${task}`, at }) as unknown as BoardEvent;

it('a day has what landed on it, from its creation and from the queue on; days before the first are left out', () => {
  const flow = new FlowCount(timestamp(100), (at) => `day ${Math.floor(at / 100)}`);
  for (const event of [
    created('cp-a', 10),
    queued('cp-a', 60),
    landed('cp-a', 90),
    created('cp-b', 20),
    queued('cp-b', 110),
    landed('cp-b', 120),
    created('cp-c', 30),
    queued('cp-c', 100),
    landed('cp-c', 190),
    created('cp-d', 200),
    queued('cp-d', 210),
    landed('cp-d', 220),
  ])
    flow.see(event);
  expect(flow.days()).toEqual([
    { day: 'day 1', landed: 2, leadP50Ms: 100, leadP95Ms: 160, queueP50Ms: 10, queueP95Ms: 90 },
    { day: 'day 2', landed: 1, leadP50Ms: 20, leadP95Ms: 20, queueP50Ms: 10, queueP95Ms: 10 },
  ]);
});
