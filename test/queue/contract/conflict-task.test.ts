/** A task that resolves the conflict of another, on the machine where the work is and on one where it is not. */

import { expect, it } from 'vitest';

import {
  findMissing,
  recordResolved,
  resolveByTask,
} from '../../../packages/copse/src/queue/act/conflict-task.ts';
import { lead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();

it('names the missing commits, and how to get them, when the conflicting work is not there', async () => {
  await using here = new QueueScene(area, 'here');
  await using elsewhere = new QueueScene(area, 'elsewhere');
  const original = await here.queue('a');
  const landing = await here.landing(original);
  if (landing === undefined) throw new Error('It is in the queue');
  const context = await here.open();
  const cause = { because: 'conflict', reason: 'a.txt', files: ['a.txt'], with: [] } as const;
  const led = await lead(context, landing.target, (own) => resolveByTask(context, own, landing, cause));
  if (led === undefined) throw new Error('No other process leads');
  const resolver = await here.task(must(led.value));
  const ref = `refs/copse/conflict/${landing.id}`;
  expect(resolver.body).toContain(`\n1. git merge ${ref}\n`);
  expect(resolver.body).toContain(`the commit ${landing.head} is on `);
  expect(resolver.body).toContain(`git push <remote> ${ref}\n`);

  const tipHere = brand<CommitId>(here.tip);
  expect(await findMissing(context, resolver, tipHere)).toEqual({ task: original, ref, isHere: true });
  expect(await findMissing(context, resolver, landing.head)).toBeNull();

  const tip = brand<CommitId>(elsewhere.tip);
  const there = { ...(await elsewhere.open()), board: context.board };
  expect(await findMissing(there, resolver, tip)).toEqual({ task: original, ref, isHere: false });
  const recorded = await change(there, (change) =>
    recordResolved(there, change, landing.id, { head: tip, commit: tip }),
  );
  expect(must(recorded)).toEqual([]);
  expect(await here.status(original)).toBe('needs_attention');
});
