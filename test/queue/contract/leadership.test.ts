/** Who leads is checked by the holder too: a board that lost the first lead gives out the same token again. */

import { expect, it } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import { type BranchName, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { leadQueue } from '../../../packages/copse/src/queue/lead/lead-queue.ts';
import { hasLead, lead, requireLead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { newArea } from '../../support/cli.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();
const main = brand<BranchName>('main');

// promise: lead-fenced
it('a leader journals and lands nothing once another machine has its lead with the same token', async () => {
  await using scene = new QueueScene(area, 'same token', { landing: { checks: {} } });
  const context = await scene.open();
  const task = await scene.queue('work');
  const before = scene.tip;
  const landed: unknown[] = [];
  await lead(context, main, async (own) => {
    expect(await hasLead(context, own)).toBe(true);
    const { resource: id, token } = own;
    const other = { holder: 'n-other', token, until: null };
    must(
      await change(context, (change) =>
        change.apply(decided({ type: 'resource.taken', id, at: change.at, ...other })),
      ),
    );
    expect(await hasLead(context, own)).toBe(false);
    expect(await change(context, (change) => requireLead(change, own))).toMatchObject({
      kind: 'refused',
      refusal: { code: 'fenced' },
    });
    await leadQueue(context, own, {
      memory: newQueueMemory(context),
      signal: new AbortController().signal,
      onLanded: (one) => void landed.push(one),
      onRejected: async () => {},
      onNote: () => {},
    });
  });
  expect(landed).toEqual([]);
  expect([scene.tip, await scene.status(task)]).toEqual([before, 'landing']);
  expect(await scene.events('landing.journalled')).toEqual([]);
});
