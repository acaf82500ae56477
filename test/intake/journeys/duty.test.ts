/** When an orchestrator looks at its sources, and what it says about one that fails. */

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { SourceDuty } from '../../../packages/copse/src/intake/act/duty.ts';
import { reportDue } from '../../../packages/copse/src/intake/act/report.ts';
import { syncSource } from '../../../packages/copse/src/intake/act/sync.ts';
import type { Source } from '../../../packages/copse/src/intake/port.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { type DeliveryId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { newPlace } from '../../support/board/boards.ts';
import { faults } from '../../support/issue-server/server.ts';
import { newIssueSite, newSourceSite, openSite } from '../../support/issue-server/site.ts';
import { claimant, must } from '../../support/records/tasks.ts';

const area = newArea();

// setting: sources.<name>.interval
test('a source is looked at at its interval, at once after a webhook, and a failure is said once', async () => {
  const source = {
    type: 'command',
    command: 'echo look >>"{folder}/looks"; cat "{folder}/items"',
    interval: '1h',
  };
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

test('a source that breaks stops no other, and an item that fails stops no other item', async () => {
  const site = await newIssueSite(area, 'github');
  const opened = await openSite(site);
  const said: string[] = [];
  const broken: Source = {
    ...(opened.context.sources[0] as Source),
    name: 'broken',
    read: () => Promise.reject(new Error('no such thing')),
  };
  const context = { ...opened.context, sources: [broken, ...opened.context.sources] };
  const duty = new SourceDuty(context, (reason) => said.push(reason));
  const pass = async () => {
    duty.pass();
    await duty.settle();
  };
  const { server } = site;
  const [one, two] = [server.file('One'), server.file('Two')];
  // The list, then who set the label of the first.
  server.instead.push(undefined, faults.badGateway);
  await pass();
  expect((await context.board.list('item')).map(({ title }) => title)).toEqual(['Two']);
  expect(said).toEqual([
    expect.stringContaining('Source broken: no such thing'),
    expect.stringContaining('Source src: '),
  ]);
  expect(context.sourceMemories.load('src').problem).toContain('src#1');
  const [source] = opened.context.sources;
  if (source === undefined) throw new Error('There is no source');
  await syncSource(context, source);
  for (const { task } of await context.board.list('item'))
    must(await claimTask(context, task, { ...claimant(`se-${task}`), node: context.node }));
  // Comments of the first to be told are asked for in vain.
  server.instead.push(faults.badGateway);
  expect(await reportDue(context, source, { isOurs: async () => true })).toMatchObject({
    kind: 'reported',
    items: [{}],
    problem: { kind: 'failed' },
  });
  expect([...one.comments, ...two.comments]).toHaveLength(1);
  await opened.close();
});

test('an orchestrator that stops gives its sources back', async () => {
  const site = newSourceSite(area, { type: 'command', command: 'true', interval: '1h' });
  const opened = await openSite(site);
  await using place = await newPlace('postgres');
  const context = { ...opened.context, board: await place.open() };
  const duty = new SourceDuty(context, (reason) => expect(reason).toBe(''));
  duty.pass();
  await duty.settle();
  const holder = async () => (await context.board.get('resource', 'source:src'))?.holder;
  expect(await holder()).toBe(context.node);
  await duty.stop();
  expect(await holder()).toBeNull();
  await opened.close();
});
