/** When an orchestrator looks at its sources, and what it says about one that fails. */

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { SourceDuty } from '../../../packages/copse/src/intake/act/duty.ts';
import { type DeliveryId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { newSourceSite, openSite } from '../../support/issue-server/site.ts';

const area = newArea();

// setting: sources.<name>.interval
test('a source is looked at at its interval, at once after a webhook, and a failure is said once', async () => {
  const source = { type: 'command', command: 'echo look >>looks; cat items', interval: '1h' };
  const site = newSourceSite(area, source, { files: { items: '{"id":1,"title":"One"}\n' } });
  const looks = () => readFileSync(path.join(site.folder, 'looks'), 'utf8').split('\n').length - 1;
  const opened = await openSite(site);
  const { context } = opened;
  const said: string[] = [];
  const duty = new SourceDuty(context, (reason) => said.push(reason));
  const pass = async () => {
    duty.pass();
    await duty.settle();
  };
  await pass();
  await pass();
  expect([looks(), await context.board.list('item')]).toMatchObject([1, [{ item: '1' }]]);
  const got = async (id: string, from: string) => {
    const delivery = { id: brand<DeliveryId>(id), at: context.clock.now(), trigger: 'hook', task: null };
    const event = { type: 'delivery.received', ...delivery, source: from } as const;
    await context.board.transact((board) => board.record(context.by, [event]));
  };
  await got('hook/1', 'another');
  await pass();
  expect(looks()).toBe(1);
  appendFileSync(path.join(site.folder, 'items'), '{"id":2,"title":"Two"}\n');
  await got('hook/2', 'src');
  await pass();
  expect([looks(), await context.board.list('item')]).toMatchObject([2, [{ item: '1' }, { item: '2' }]]);
  writeFileSync(path.join(site.folder, 'items'), 'broken\n');
  await got('hook/3', 'src');
  await pass();
  await got('hook/4', 'src');
  await pass();
  // After a failure it waits, whatever wakes it.
  expect([looks(), said]).toEqual([3, [expect.stringContaining('Source src: Line 1 is not an item')]]);
  expect(context.sourceMemories.load('src').problem).toContain('Line 1 is not an item');
  await opened.close();
});
