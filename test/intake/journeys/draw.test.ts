/** Schedules that take the items of a source one by one. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { SourceDuty } from '../../../packages/copse/src/intake/act/duty.ts';
import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { makeDue } from '../../support/intake/due.ts';
import { newSourceSite, openSite, tasksOf } from '../../support/issue-server/site.ts';

const area = newArea();
afterAll(() => endAgents(area));

const hourly = { type: 'interval', interval: '1h' };
const schedule = 'coder/daily';

// setting: agents.<name>.schedules.<name>.work_source
// promise: item-once
test('each time takes the next item of a list for its agent, which is ticked once; then nothing is left to do', async () => {
  const LIST = '# Plan\n\n- [ ] One\n- [ ] Two\n- [ ] Three\n';
  const work =
    'echo "$COPSE_WORK_ITEM_ID" >"$COPSE_TASK_ID" && git add -A && git commit -qm "feat: x" && copse finish --summary Done';
  const sections = {
    landing: { policy: 'auto' },
    policy: { poll_interval: '300ms', min_free_memory: '64MB' },
    agents: {
      another: { command: 'false' },
      coder: {
        command: work,
        schedules: { daily: { ...hourly, work_source: 'src', prompt: 'Be very brief.' } },
      },
    },
  };
  const site = newSourceSite(
    area,
    { type: 'markdown', files: ['*.md'] },
    { files: { 'TODO.md': LIST }, sections },
  );
  expect(await printed(['config', 'check'], site.at)).toBe('copse.yml is valid.\n');
  expect(await printed(['sources', 'sync'], site.at)).toContain(
    'Its schedule coder/daily takes its items, one with each run: 3 items without a task.',
  );
  const fire = async () => {
    await makeDue(site.at, schedule);
    const opened = await openSite(site);
    const duty = new SourceDuty(opened.context, (reason) => expect(reason).toBe(''));
    duty.pass();
    await duty.settle();
    await opened.close();
    return (await tasksOf(site))
      .flatMap(({ title, workItem }) => (workItem === null ? [] : [title]))
      .toSorted();
  };
  expect(await fire()).toEqual(['One']);
  // The next time comes while the run goes on: it is skipped, and a person may start one all the same.
  expect(await fire()).toEqual(['One']);
  expect(await printed(['schedule', 'run', 'daily'], site.at)).toContain('Two');
  expect(await printed(['schedule', 'run', 'daily'], site.at)).toContain('Three');
  expect((await copse(['orchestrate', '--until-idle'], site.at)).code).toBe(0);
  expect(readFileSync(path.join(site.folder, 'TODO.md'), 'utf8')).toBe(LIST.replaceAll('[ ]', '[x]'));
  expect(await fire()).toEqual(['One', 'Three', 'Two']);
  const tasks = (await tasksOf(site)).filter(({ workItem }) => workItem !== null);
  expect(tasks.map(({ title }) => title).toSorted()).toEqual(['One', 'Three', 'Two']);
  for (const task of tasks) {
    expect(task).toMatchObject({ status: 'done', agent: 'coder', origin: { kind: 'schedule', schedule } });
    expect(git(site.folder, 'show', `main:${task.id}`)).toBe(task.workItem?.id);
  }
  expect(await answer(['schedule', 'show', 'daily'], site.at)).toMatchObject({
    workSource: 'src',
    lastPassed: { because: 'no_item' },
  });
  const { stderr } = await copse(['schedule', 'run', 'daily'], site.at);
  expect(stderr).toContain('the source src has no open item without a task');
});

test('an item that a person took is left out, and a source that fails keeps the run until it can be read', async () => {
  // The source is written in the schedule.
  const site = newSourceSite(area, { type: 'command', command: 'true' });
  const file = path.join(site.folder, 'items');
  const source = { type: 'command', command: `cat "${file}"`, interval: '1h' };
  const daily = { ...hourly, work_source: source };
  const config = { agents: { coder: { command: 'true', schedules: { daily } } } };
  writeFileSync(path.join(site.folder, 'copse.yml'), JSON.stringify(config));
  const items = [1, 2, 3].map((id) => `${JSON.stringify({ id, title: `Item ${id}` })}\n`);
  writeFileSync(file, items.join(''));
  await printed(['add', '--item', `${schedule}#1`], site.at);
  expect(await printed(['schedule', 'run', 'daily'], site.at)).toContain('Item 2');
  const second = (await tasksOf(site)).find(({ title }) => title === 'Item 2');
  expect(second).toMatchObject({ agent: 'coder', workItem: { source: schedule, id: '2' } });
  await printed(['cancel', second?.id ?? ''], site.at);

  writeFileSync(file, 'broken\n');
  await makeDue(site.at, schedule);
  const opened = await openSite(site);
  const { context } = opened;
  const said: string[] = [];
  const elapsed = { ms: 0 };
  const clock = { ...context.clock, now: () => context.clock.now(), elapsedMs: () => elapsed.ms };
  const duty = new SourceDuty({ ...context, clock }, (reason) => said.push(reason));
  const pass = async (starts = true) => {
    duty.pass({ starts });
    await duty.settle();
    return (await context.board.list('item')).map(({ item }) => item);
  };
  expect(await pass()).toEqual(['1', '2']);
  expect(await pass()).toEqual(['1', '2']);
  expect(said).toEqual([expect.stringContaining(`Source ${schedule}: Line 1 is not an item`)]);
  expect(await context.board.list('schedule')).toMatchObject([
    { owed: 1, lastPassed: { because: 'unread' } },
  ]);
  writeFileSync(file, items.join(''));
  elapsed.ms += 3_600_000;
  // A machine that drains reads its sources, and starts nothing.
  expect(await pass(false)).toEqual(['1', '2']);
  expect(await pass()).toEqual(['1', '2', '3']);
  expect(await context.board.list('schedule')).toMatchObject([{ owed: 0, lastRun: {} }]);
  expect(said).toHaveLength(1);
  await opened.close();
});
