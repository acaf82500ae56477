/**
 * A day as one journey: issues and boxes come in, a schedule and requests start agents, agents crash, conflict and get stuck, a
 * person answers and sweeps. In the evening every item is done once, and all that Copse tells about it agrees.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import type { BoardLine } from '../../../packages/copse/src/board/rules/board-line.ts';
import { type EventNumber, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { canSeeProcesses, kill } from '../../support/agents/runs.ts';
import { expectNothingLeft, expectTold, explained } from '../../support/agents/runs-checks.ts';
import { answer, copse, copseProcess, git, newArea, printed } from '../../support/cli.ts';
import { Day, agentNames } from '../../support/day/day.ts';

const area = newArea();

const pairs = ['one', 'two', 'three'].flatMap((pair) => [`Pair ${pair} left`, `Pair ${pair} right`]);
const plain = Array.from({ length: 3 }, (_, index) => `Plain ${index + 1}`);
/** Each with the agent that gets it: every kind of agent has its trouble. */
const troubled = {
  'Crash here': 'acp-2',
  'Killed there': 'codex-2',
  'Ask first': 'acp-1',
  'Lost key': 'codex-1',
};
const issues = [...pairs, ...Object.keys(troubled), ...plain];
const late = 'Plain and late';
const boxes = ['Box a', 'Box b', 'Box c', 'Box d'];
const list = '# Today\n\n- [ ] Box a\n  - [ ] Box b\n- [ ] Box c\n- [ ] Box d\n';

test.runIf(canSeeProcesses)(
  'a day of intake: every item is done once, every status goes back once, and all records agree',
  { timeout: 900_000 },
  async () => {
    const day = await Day.begin(area, { list });
    await using run = day.run;
    await explained(run, async () => {
      await morning(day);
      await noon(day);
      const orchestrator = run.orchestrators[0];
      await run.until(() => isEvening(day));
      orchestrator?.signal('SIGINT');
      expect(await orchestrator?.ended).toBe(0);
      await sweeps(day);

      await expectItemsDone(day);
      expectReportedOnce(day);
      await expectHistory(day);
      await expectLedgerAndJobs(day);
      await expectTroubles(day);
      await expectExport(day);
      await expectNothingLeft(run);
      await expectTold(run);
    });
  },
);

let abandoned = '';

/** The items become tasks; a person gives out the troubled ones and begins a task by hand; six agents start at once. */
async function morning(day: Day): Promise<void> {
  const { server, at, run } = day;
  for (const title of issues) server.file(title);
  await printed(['sources', 'sync'], at);
  const given = [
    ...pairs.map((title, index) => [title, agentNames[index]] as const),
    ...Object.entries(troubled),
  ];
  for (const [title, agent = ''] of given) {
    const priority = pairs.includes(title) ? 'p5' : 'p4';
    await printed(['edit', await day.taskOf(title), '--agent', agent, '--priority', priority], at);
  }
  abandoned = (await answer<{ id: string }>(['add', 'By hand'], at)).id;
  await printed(['work', abandoned], at);
  writeFileSync(path.join(worktreeOf(day, abandoned), 'mine.txt'), 'only here\n');
  await day.makeDue('acp-1/nightly');
  run.orchestrate();
  await run.until(() => day.said('began').length === agentNames.length);
  expect(
    day
      .said('began')
      .map(({ agent }) => agent)
      .toSorted(),
  ).toEqual(agentNames.toSorted());
  day.allow('pairs.go');
}

/** A runner is killed, a person answers, an issue is filed and announced, requests come twice. */
async function noon(day: Day): Promise<void> {
  const { server, at, run } = day;
  await printed(['cancel', abandoned], at);
  const killed = await day.taskOf('Killed there');
  await run.until(() => day.said('waits').length === 1);
  const held = await run.context.board.get('task', killed);
  const attempt = held?.state.status === 'in_progress' ? held.state.claim.attempt : null;
  const runner = attempt && (await run.context.board.get('attempt', attempt))?.process;
  if (!runner) expect.fail('The task has no runner');
  expect(kill(runner.pid, 'SIGKILL')).toBe(true);

  const asking = await day.taskOf('Ask first');
  await day.becomes(asking, 'stuck');
  expect(await printed(['inbox'], at)).toContain('Blue or green?');
  const person = { cwd: run.folder, env: run.env };
  const answered = await copseProcess(['restart', asking, '--answer', 'Paint it green'], person);
  expect(answered).toMatchObject({ code: 0 });

  server.file(late);
  const body = JSON.stringify({ action: 'labeled', issue: { number: server.issues.length } });
  expect(await day.deliver('hook', 'd-1', body)).toBe('woken');
  await day.taskOf(late);
  expect(await day.deliver('hook', 'd-1', body)).toBe('replayed');
  expect(await day.deliver('deploy', 'd-1', '{"ref":"main"}')).toBe('started');
  expect(await day.deliver('deploy', 'd-1', '{"ref":"main"}')).toBe('replayed');
}

/** Every task ended, the sources know, and the ticks have landed. */
async function isEvening(day: Day): Promise<boolean> {
  const { board } = day.run.context;
  const open = await board.tasks({ finished: false, order: 'urgent' });
  if (open.length > 0) return false;
  const items = await board.list('item');
  return (
    items.length === issues.length + 1 + boxes.length && items.every(({ report }) => report?.phase === 'done')
  );
}

async function sweeps(day: Day): Promise<void> {
  const { at, run } = day;
  expect(existsSync(worktreeOf(day, abandoned))).toBe(true);
  const planned = await printed(['sweep', '--dry-run'], at);
  expect(planned).toContain(`.worktrees/${abandoned}`);
  const main = git(run.folder, 'rev-parse', 'main');
  await printed(['sweep'], at);
  expect(existsSync(worktreeOf(day, abandoned))).toBe(false);
  const [rescue = ''] = git(
    run.folder,
    'for-each-ref',
    '--format=%(refname)',
    `refs/copse/rescue/${abandoned}/`,
  ).split('\n');
  expect(git(run.folder, 'grep', 'only here', rescue)).toContain('mine.txt');
  expect(git(run.folder, 'rev-parse', 'main')).toBe(main);
}

function worktreeOf({ run }: Day, task: string): string {
  return path.join(run.folder, '.worktrees', task);
}

/** One task for each item, of the schedule, of the request; each done, and the one that the person cancelled. */
async function expectItemsDone(day: Day): Promise<void> {
  const tasks = (await day.tasks()).filter(({ title }) => !title.startsWith('Tick '));
  expect(tasks.map(({ title, status }) => `${title}: ${status}`).toSorted()).toEqual(
    [
      ...[...issues, late, ...boxes, 'nightly: Nightly look', 'deploy: Deployment look'].map(
        (title) => `${title}: done`,
      ),
      'By hand: cancelled',
    ].toSorted(),
  );
  const items = await day.run.context.board.list('item');
  expect(new Set(items.map(({ task }) => task)).size).toBe(issues.length + 1 + boxes.length);
  const nested = tasks.find(({ title }) => title === 'Box a');
  expect(nested?.dependsOn).toEqual([tasks.find(({ title }) => title === 'Box b')?.id]);
}

/** One comment on each issue, edited in place, which names the commit of its task; and one tick for each box. */
function expectReportedOnce({ server, run }: Day): void {
  for (const { comments, title } of server.issues) {
    expect({ title, authors: comments.map(({ author }) => author) }).toEqual({
      title,
      authors: [server.login],
    });
    const [, task, commit = ''] =
      /^<!-- copse-status (cp-\w+) -->\n.*: done in ([0-9a-f]{40})\.\n$/.exec(comments[0]?.text ?? '') ?? [];
    expect(git(run.folder, 'show', '--format=%(trailers:key=Task,valueonly)', '--no-patch', commit)).toBe(
      task,
    );
    git(run.folder, 'merge-base', '--is-ancestor', commit, 'main');
  }
  const created = server.writes.filter(({ method }) => method === 'POST');
  expect(created).toHaveLength(server.issues.length);
  const ticked = list.replaceAll('[ ]', '[x]');
  expect(readFileSync(path.join(run.folder, 'TODO.md'), 'utf8')).toBe(ticked);
  const history = git(run.folder, 'log', '--patch', '--format=', 'main', '--', 'TODO.md').split('\n');
  const ticks = history.filter((line) => /^\+\s*- \[x\]/.test(line)).map((line) => line.slice(1).trim());
  expect(ticks.toSorted()).toEqual(boxes.map((box) => `- [x] ${box}`));
}

/** Git says the same as the board: the work of each done task is on main, and came there once. */
async function expectHistory(day: Day): Promise<void> {
  const { run } = day;
  const tasks = (await day.tasks()).filter(
    ({ status, title }) => status === 'done' && !title.startsWith('Tick '),
  );
  const added = git(run.folder, 'log', '--diff-filter=A', '--name-only', '--format=', 'main', '--', 'work');
  expect(added.split('\n').filter(Boolean).toSorted()).toEqual(
    tasks.map(({ id }) => `work/${id}.txt`).toSorted(),
  );
  for (const { id } of tasks) expect(git(run.folder, 'show', `main:work/${id}.txt`)).toBe(`text of ${id}`);
  expect(git(run.folder, 'rev-list', '--merges', 'main')).toBe('');
  for (const pair of ['one', 'two', 'three'])
    expect(git(run.folder, 'show', `main:pair-${pair}.txt`)).toBe(`both of pair-${pair}`);
  const landings = await run.context.board.list('landing');
  const landed = landings.filter(({ state }) => state.status === 'landed').map(({ task }) => task as string);
  const done = (await day.tasks()).filter(({ status }) => status === 'done').map(({ id }) => id);
  expect(landed.toSorted()).toEqual(done.toSorted());
}

interface Job {
  readonly by: string;
  readonly schedule: string | null;
  readonly trigger: string | null;
  readonly result: string;
  readonly task: { readonly id: string; readonly title: string };
}

async function expectLedgerAndJobs(day: Day): Promise<void> {
  const { at } = day;
  const entries: { readonly kind: string; readonly task: string; readonly text: string }[] = [];
  for (const { id: task } of await day.tasks()) {
    const told = await answer<{ entries: typeof entries }>(['ledger', 'list', '--task', task], at);
    entries.push(...told.entries.map(({ kind, text }) => ({ kind, text, task })));
  }
  const crashed = await Promise.all([day.taskOf('Crash here'), day.taskOf('Killed there')]);
  expect(
    entries
      .filter(({ kind }) => kind === 'crash')
      .map(({ task }) => task)
      .toSorted(),
  ).toEqual(crashed.toSorted());
  const asking = await day.taskOf('Ask first');
  expect(entries.filter(({ kind }) => kind === 'decision')).toMatchObject([
    // What the person answered, then what the agent noted.
    { task: asking, text: expect.stringContaining('green') as string },
    { task: asking, text: 'The door is green' },
  ]);
  const { jobs } = await answer<{ jobs: readonly Job[] }>(['jobs'], at);
  expect(
    jobs
      .map(({ by, schedule, trigger, result, task }) => [by, schedule ?? trigger, result, task.title])
      .toSorted(),
  ).toEqual([
    ['schedule', 'acp-1/nightly', 'done', 'nightly: Nightly look'],
    ['trigger', 'deploy', 'done', 'deploy: Deployment look'],
  ]);
}

/** As many troubles as the day was given, and none besides. */
async function expectTroubles(day: Day): Promise<void> {
  const events = await day.run.context.board.events({ after: brand<EventNumber>(0), limit: 10_000 });
  const of = (type: string) => events.filter(({ event }) => event.type === type).map(({ event }) => event);
  const titles = async (ids: readonly unknown[]) => {
    const all = await day.tasks();
    return ids.map((id) => all.find((task) => task.id === id)?.title).toSorted();
  };
  expect(await titles(of('task.crashed').map(({ id }) => id))).toEqual(['Crash here', 'Killed there']);
  expect(await titles(of('task.stuck').map(({ id }) => id))).toEqual(['Ask first', 'Lost key']);
  const restarted = of('task.restarted').map((event) => [event.id, 'automatic' in event]);
  expect(restarted.toSorted()).toEqual(
    [
      [await day.taskOf('Ask first'), false],
      [await day.taskOf('Lost key'), true],
    ].toSorted(),
  );
  const handedBack = of('task.handed_back').map((event) => ('because' in event ? event.because : ''));
  expect(handedBack).toEqual(['conflict', 'conflict', 'conflict']);
  const resolvers = day.said('resolved').map(({ slug }) => slug.replace(/-(left|right)$/, ''));
  expect(resolvers.toSorted()).toEqual(['pair-one', 'pair-three', 'pair-two']);
  const told = of('item.reported').flatMap((event) =>
    'phase' in event && event.phase === 'done' ? [event.id] : [],
  );
  expect(new Set(told).size).toBe(told.length);
  expect(told).toHaveLength(issues.length + 1 + boxes.length);
  expect(of('delivery.received')).not.toHaveLength(0);
  expect(of('schedule.fired')).toHaveLength(1);
}

/** An export's events alone make its records, and another board imports it. */
async function expectExport({ at, run }: Day): Promise<void> {
  const { stdout, code } = await copse(['export'], at);
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as BoardLine);
  const world = replay(lines.flatMap((line) => (line.line === 'event' ? [line.recorded.event] : [])));
  const told = Object.entries(world).flatMap(([kind, records]) =>
    Array.from(records as ReadonlyMap<string, object>, ([id, record]) => [`${kind} ${id}`, record] as const),
  );
  const exported = lines.flatMap((line) =>
    line.line === 'record' ? [[`${line.kind} ${line.record.id}`, line.record] as const] : [],
  );
  expect(new Map(exported)).toEqual(new Map(JSON.parse(JSON.stringify(told)) as typeof told));
  expect(exported.length).toBe(told.length);
  const listed = (await answer<{ tasks: readonly { id: TaskId; status: string }[] }>(['list', '--all'], at))
    .tasks;
  expect(listed.length).toBe(world.task.size);
  for (const { id, status } of listed) expect(world.task.get(id)?.state.status).toBe(status);
  expect(await run.context.board.held()).toEqual([]);
}
