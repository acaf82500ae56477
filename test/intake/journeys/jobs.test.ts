/** Schedules and triggers through the command line: what is started, on which branch, and what `copse jobs` tells of it. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { makeDue } from '../../support/intake/due.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface JobDocument {
  readonly id: string;
  readonly by: string;
  readonly schedule: string | null;
  readonly trigger: string | null;
  readonly item: { readonly id: string } | null;
  readonly result: string;
  readonly durationMs: number | null;
  readonly summary: string | null;
  readonly error: string | null;
  readonly task: { readonly id: string; readonly title: string };
}

const work =
  'echo "it says hello"; git commit --quiet --allow-empty -m "feat: work"; copse finish --summary "Did it"';
const nightly = {
  type: 'cron',
  cron: '0 6 * * 1-5',
  time_zone: 'Europe/Berlin',
  prompt: 'Update all\nand test',
};

let scene: Scene;
let jobs: readonly JobDocument[];
const started: { readonly job: string; readonly task: { readonly id: string } }[] = [];

beforeAll(async () => {
  scene = newScene(area, {
    agents: {
      worker: {
        command: ['sh', '-c', work],
        workspace: { branch_pattern: 'agent/{agent}/{schedule}/{date}/{jobId}' },
        schedules: { nightly, often: { type: 'interval', interval: '1h', prompt: 'Look around' } },
      },
      asking: { command: ['sh', '-c', 'copse stuck --reason "Which one?"'] },
    },
    sections: { triggers: { deploy: { agent: 'worker', prompt: 'Look at the deployment' } } },
  });
  started.push(await answer(['schedule', 'run', 'nightly'], scene.at));
  started.push(await answer(['trigger', 'deploy'], scene.at));
  started.push(await answer(['trigger', 'asking', '--item', 'github#12', '--prompt', 'Choose'], scene.at));
  await makeDue(scene.at, 'worker/often');
  await copse(['orchestrate', '--until-idle'], scene.at);
  ({ jobs } = await answer<{ jobs: readonly JobDocument[] }>(['jobs'], scene.at));
});

describe('copse jobs', () => {
  // setting: agents.<name>.schedules.<name>.prompt, triggers.<name>.agent, triggers.<name>.prompt
  test('tells what started each run, its item, result, duration, summary and error', () => {
    const told = jobs.map(({ by, schedule, trigger, item, result, summary, error }) =>
      [by, schedule ?? trigger, item?.id ?? null, result, summary, error].join(' '),
    );
    expect(told.toSorted()).toEqual([
      'schedule worker/nightly  done Did it ',
      'schedule worker/often  done Did it ',
      'trigger asking 12 needs_person  Which one?',
      'trigger deploy  done Did it ',
    ]);
    for (const { durationMs } of jobs) expect(durationMs).toBeGreaterThan(0);
    expect(jobs.map(({ id }) => id)).toEqual(expect.arrayContaining(started.map(({ job }) => job)));
  });

  test('and jobs show say it in words, by the beginning of an id too', async () => {
    const asked = jobs.find(({ trigger }) => trigger === 'asking');
    const text = await printed(['jobs'], scene.at);
    expect(text).toContain(`${asked?.id}  needs you`);
    const one = await printed(['jobs', 'show', asked?.id.slice(0, 9) ?? ''], scene.at);
    expect(one).toContain('started by trigger asking');
    expect(one).toContain('item       github 12');
    expect(one).toContain('error      Which one?');
    expect((await copse(['jobs', 'show', 'jb-none'], scene.at)).code).toBe(3);
    expect((await copse(['jobs', 'show', 'jb-'], scene.at)).code).toBe(2);
  });

  test('come in pages, the newest first, each job once also when one is added in between', async () => {
    const page = (...argv: readonly string[]) =>
      answer<{ jobs: readonly JobDocument[]; cursor: string | null }>(['jobs', ...argv], scene.at);
    const all = await page('--all');
    expect(all.cursor).toBeNull();
    const first = await page('--limit', '3');
    expect(first.jobs).toEqual(all.jobs.slice(0, 3));
    await copse(['trigger', 'deploy'], scene.at);
    const second = await page('--limit', '3', '--cursor', first.cursor ?? '');
    expect(second).toEqual({ jobs: all.jobs.slice(3), cursor: null });
    expect(await printed(['jobs', '--limit', '1'], scene.at)).toMatch(
      /^The next page: copse jobs --cursor \d+:cp-\w+$/m,
    );
    const wrong = await copse(['jobs', '--cursor', 'x'], scene.at);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not one of this list') as string,
    });
  });

  test('are the tasks, sessions and attempts of the board: logs by the id of a job', async () => {
    const [first] = started;
    expect(await printed(['logs', first?.job ?? ''], scene.at)).toContain('it says hello');
    expect(await answer(['show', first?.task.id ?? ''], scene.at)).toMatchObject({
      origin: { kind: 'schedule', schedule: 'worker/nightly', job: first?.job },
    });
  });
});

test('a trigger starts no second task for a work item: the first one keeps its conversation', async () => {
  const asked = jobs.find(({ trigger }) => trigger === 'asking');
  const again = await copse(['trigger', 'worker', '--item', 'github#12', '--prompt', 'Again'], scene.at);
  expect(again).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      `github 12 is already ${asked?.task.id}\\.[^]*copse show ${asked?.task.id}`,
    ),
  });
});

test('branches get the schedule, the job and the day of their task', async () => {
  const branchOf = async (task: string | undefined) =>
    (await answer<{ workspace: { branch: string } }>(['show', task ?? ''], scene.at)).workspace.branch;
  const day = new Date().toISOString().slice(0, 10);
  const [bySchedule, byTrigger] = started;
  expect(await branchOf(bySchedule?.task.id)).toBe(
    `agent/worker/nightly/${day}/${bySchedule?.job.slice(-8)}`,
  );
  expect(await branchOf(byTrigger?.task.id)).toBe(`agent/worker/manual/${day}/${byTrigger?.job.slice(-8)}`);
});

describe('copse schedule', () => {
  // setting: agents.<name>.schedules.<name>.cron, agents.<name>.schedules.<name>.time_zone
  // setting: agents.<name>.schedules.<name>.type=cron
  test('list says the times in words, and the next three in its time zone', async () => {
    const text = await printed(['schedule', 'list'], scene.at);
    expect(text).toContain('worker/nightly  at 06:00 on Monday to Friday (Europe/Berlin)');
    expect(text).toMatch(
      /next: \d{4}-\d\d-\d\d 06:00 \(in .*?\), \d{4}-\d\d-\d\d 06:00, \d{4}-\d\d-\d\d 06:00/,
    );
    const { schedules } = await answer<{
      schedules: { id: string; next: string[]; lastRun: object | null }[];
    }>(['schedule', 'list'], scene.at);
    expect(schedules.map(({ id, next }) => [id, next.length])).toEqual([
      ['worker/nightly', 3],
      ['worker/often', 3],
    ]);
    expect(schedules.every(({ lastRun }) => lastRun !== null)).toBe(true);
  });

  test('pause and resume are told apart, and need a schedule of copse.yml', async () => {
    expect(await printed(['schedule', 'pause', 'nightly'], scene.at)).toContain('worker/nightly paused');
    expect(await printed(['schedule', 'list'], scene.at)).toContain(
      'paused: copse schedule resume worker/nightly',
    );
    expect((await copse(['schedule', 'pause', 'nightly'], scene.at)).code).toBe(4);
    expect(await printed(['schedule', 'resume', 'nightly'], scene.at)).toContain('worker/nightly resumed');
    expect((await copse(['schedule', 'resume', 'nightly'], scene.at)).code).toBe(4);
    expect((await copse(['schedule', 'run', 'weekly'], scene.at)).stderr).toContain('copse schedule list');
  });
});

test.each([
  [
    'type: cron, cron: "99 6 * * *", prompt: x',
    'its cron expression cannot be used: Invalid value for minute: 99',
  ],
  ['type: cron, cron: "0 6 * * *", time_zone: Mars, prompt: x', 'there is no time zone "Mars"'],
  ['type: cron, cron: "0 0 30 2 *", prompt: x', 'its cron expression never comes'],
  ['type: interval, interval: 1h', 'needs `prompt` or `work_source`'],
])('config check refuses { %s }', async (schedule, reason) => {
  const bad = newScene(area);
  writeFileSync(
    path.join(bad.folder, 'copse.yml'),
    `agents: { c: { command: "true", schedules: { s: { ${schedule} } } } }\n`,
  );
  const { code, stderr } = await copse(['config', 'check'], bad.at);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) as string });
});
