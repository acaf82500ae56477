/** What agents used, added up by task, agent and day. */

import path from 'node:path';

import { expect, test } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import { addPlan } from '../../../packages/copse/src/tasks/act/plans.ts';
import { addTask, deleteTasks } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import { type AgentName, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Usage } from '../../../packages/copse/src/kernel/usage.ts';
import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;

async function openNew(): Promise<{ readonly project: Project; readonly here: { readonly cwd: string } }> {
  projects += 1;
  const folder = path.join(area, `it's "projekt" ${projects}`);
  const project = await openForTest(newProject(folder));
  return { project, here: { cwd: folder } };
}

/** A session of the agent, and what it used at which times. */
async function use(
  project: Project,
  task: TaskId,
  agent: string,
  used: readonly (readonly [at: string, usage: Partial<Usage>])[],
): Promise<void> {
  const { session } = await startSession(project, task, brand<AgentName>(agent));
  must(
    await change(project.context, async (change) => {
      for (const [at, usage] of used) {
        await change.apply(
          decided({
            type: 'session.used',
            id: session,
            at: timestamp(Date.parse(at)),
            usage: { input: 0, cached: 0, output: 0, dollars: null, ...usage },
          }),
        );
      }
    }),
  );
}

interface Row {
  readonly input: number;
  readonly dollars: number | null;
  readonly isUnknownInPart: boolean;
  readonly [key: string]: unknown;
}

interface Costs {
  readonly rows: readonly Row[];
  readonly total: Row;
}

async function threeTasks() {
  const { project, here } = await openNew();
  const dear = await project.addTask(
    'The dear one, with a title that is much longer than any column of a table is',
  );
  const cheap = await project.addTask('安い仕事');
  const unknown = await project.addTask('No price');
  await use(project, dear, 'claude', [
    // As a vendor says it: tokens while it works, dollars at the end.
    ['2026-03-01T23:30:00Z', { input: 1_000, cached: 45_000, output: 500 }],
    ['2026-03-02T00:30:00Z', { input: 200, output: 1_250_000, dollars: 12.5 }],
  ]);
  await use(project, cheap, 'claude', [['2026-03-02T10:00:00Z', { input: 40, dollars: 0.001 }]]);
  await use(project, unknown, 'codex', [['2026-03-03T10:00:00Z', { input: 900, output: 99 }]]);
  return { project, here, dear, cheap, unknown };
}

test('is shown by task, the most expensive first, in 80 columns; a cost without a price is unknown', async () => {
  const { here, dear, cheap, unknown } = await threeTasks();
  const text = await printed(['cost'], here);
  const row = (label: string, numbers: string) => `${label}${numbers}`;
  expect(text.split('\n')).toEqual([
    row('task'.padEnd(43), '    input   cached   output  dollars'),
    row(`${dear} The dear one, with a title that is…`, '     1.2k    45.0k     1.3M   $12.50'),
    // Wide characters take two columns.
    row(`${cheap} 安い仕事`.padEnd(39), '       40        0        0   <$0.01'),
    row(`${unknown} No price`.padEnd(43), '      900        0       99  unknown'),
    row('total'.padEnd(43), '     2.1k    45.0k     1.3M  $12.50+'),
    '+ marks sums without the agents that report no dollars.',
    '',
  ]);
  const only = await printed(['cost', '--since', '2026-03-03', '--by', 'agent'], {
    ...here,
    env: { TZ: 'UTC' },
  });
  expect(only).toMatch(/^total +900 +0 +99 +unknown\nThe agents do not report dollars\.\n$/m);
});

test('adds up exactly, and names unknown costs', async () => {
  const { project, here, dear, unknown } = await threeTasks();
  const byTask = await answer<Costs>(['cost'], here);
  expect(byTask.rows.map(({ task, dollars }) => [task, dollars])).toEqual([
    [dear, 12.5],
    [expect.any(String), 0.001],
    [unknown, null],
  ]);
  expect(byTask.rows[0]).toMatchObject({
    input: 1_200,
    cached: 45_000,
    output: 1_250_500,
    isUnknownInPart: false,
  });
  expect(byTask.total).toMatchObject({ input: 2_140, dollars: 12.501, isUnknownInPart: true, sessions: 3 });
  const byAgent = await answer<Costs>(['cost', '--by', 'agent'], here);
  expect(
    byAgent.rows.map(({ agent, input, dollars, isUnknownInPart }) => [
      agent,
      input,
      dollars,
      isUnknownInPart,
    ]),
  ).toEqual([
    ['claude', 1_240, 12.501, false],
    ['codex', 900, null, true],
  ]);
  const byBoth = await answer<Costs>(['cost', '--by', 'agent_day'], { ...here, env: { TZ: 'UTC' } });
  expect(byBoth.rows.map(({ day, agent, dollars }) => [day, agent, dollars])).toEqual([
    ['2026-03-01', 'claude', null],
    ['2026-03-02', 'claude', 12.501],
    ['2026-03-03', 'codex', null],
  ]);
  // Whatever the rows are, they are of the same whole.
  expect(byAgent.total).toEqual(byTask.total);
  must(
    await deleteTasks({ ...project.context, by: { kind: 'person', name: null } }, [unknown], {
      unlink: false,
    }),
  );
  expect(await printed(['cost'], here)).toContain(`${unknown} (deleted)`);
});

test('by day, in the time zone of the command', async () => {
  const { here } = await threeTasks();
  const days = async (TZ: string) => {
    const { rows } = await answer<Costs>(['cost', '--by', 'day'], { ...here, env: { TZ } });
    return rows.map(({ day, input }) => [day, input]);
  };
  expect(await days('UTC')).toEqual([
    ['2026-03-01', 1_000],
    ['2026-03-02', 240],
    ['2026-03-03', 900],
  ]);
  expect(await days('Asia/Tokyo')).toEqual([
    ['2026-03-02', 1_240],
    ['2026-03-03', 900],
  ]);
});

test('only since a time, and only of a plan', async () => {
  const { project, here } = await threeTasks();
  const since = async (text: string, TZ = 'UTC') =>
    (await answer<Costs>(['cost', '--since', text], { ...here, env: { TZ } })).total.input;
  expect(await since('2026-03-02')).toBe(1_140);
  expect(await since('2026-03-02', 'Asia/Tokyo')).toBe(2_140);
  expect(await since('2026-03-02T00:30Z')).toBe(1_140);
  expect(await since('2026-03-02T00:31Z')).toBe(940);
  const { id: plan } = must(await addPlan(project.context, { title: 'A plan', body: '' }));
  const planned = must(await addTask(project.context, { title: 'Planned', plan })).id;
  await use(project, planned, 'codex', [[new Date(Date.now() - 3_600_000).toISOString(), { input: 7 }]]);
  expect((await answer<Costs>(['cost', '--plan', plan], here)).rows).toMatchObject([
    { task: planned, input: 7 },
  ]);
  expect(await since('2h')).toBe(7);
  expect(await since('30m')).toBe(0);
  expect(await printed(['cost', '--since', '30m'], here)).toBe(
    'No agent reported usage for this selection.\n',
  );
  for (const wrong of ['yesterday', '2026-02-30', '2026-13-01', '5', '1y']) {
    const { code, stderr } = await copse(['cost', '--since', wrong], here);
    expect({ wrong, code, stderr }).toEqual({
      wrong,
      code: 2,
      stderr: expect.stringContaining('since must be a time like 7d'),
    });
  }
  expect(await copse(['cost', '--by', 'moon'], here)).toMatchObject({ code: 2 });
});

test('of an empty board is one clear sentence', async () => {
  const { here } = await openNew();
  expect(await printed(['cost'], here)).toBe('No agent has reported usage yet.\n');
  expect(await answer(['cost'], here)).toMatchObject({ rows: [], total: { tokens: 0, dollars: null } });
});

test('is shown with the task and with its agent', async () => {
  const { here, dear, unknown } = await threeTasks();
  expect(await printed(['show', dear], here)).toContain('used        1.3M tokens, $12.50\n');
  expect(await printed(['show', unknown], here)).toContain('used        999 tokens, dollars unknown\n');
  expect(await printed(['agents'], here)).toContain(', 999 tokens, dollars unknown\n');
});
