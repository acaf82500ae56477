/** Who is told what happens while orchestrators run: each notice once, by one of them. */

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { openMemory } from '../../../packages/copse/src/kernel/system/json-file.ts';
import { announce } from '../../../packages/copse/src/explain/notices/announce.ts';
import { raiseAttention } from '../../../packages/copse/src/agents/act/answer.ts';
import { systemTimer } from '../../../packages/copse/src/compose/parts.ts';
import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type BranchName,
  type CommitId,
  type LandingId,
  type NodeId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { Notice, NoticeKind } from '../../../packages/copse/src/explain/rules/notice.ts';
import type { NoticeChannel } from '../../../packages/copse/src/explain/notices/port.ts';
import { newArea } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;

async function openNew(): Promise<Project> {
  projects += 1;
  return openForTest(newProject(path.join(area, `it's "projekt" ${projects}`)));
}

interface Told {
  readonly headlines: string[];
  readonly problems: string[];
  stop(): Promise<void>;
}

interface Telling {
  readonly node?: NodeId;
  readonly kinds?: readonly NoticeKind[];
  readonly stallMs?: number;
  readonly pollMs?: number;
  readonly send?: NoticeChannel['send'];
}

/** What an orchestrator does beside its loop. */
async function tell(
  { context }: Project,
  { node = context.node, kinds, send, stallMs = 60_000, pollMs = 50 }: Telling = {},
): Promise<Told> {
  const headlines: string[] = [];
  const problems: string[] = [];
  const stopping = new AbortController();
  const { notifications, board } = context.policy;
  const policy = {
    ...context.policy,
    board: { ...board, followPollMs: pollMs },
    notifications: { ...notifications, lastMs: 300 },
    landing: { ...context.policy.landing, stallMs },
  };
  const noted = async (notice: Notice) => {
    headlines.push(notice.headline);
    return { kind: 'sent' as const } as const;
  };
  const done = announce(
    { ...context, node, policy, clock: systemTimer },
    {
      after: await context.board.lastEvent(),
      memory: openMemory(context.home, 'notices'),
      signal: stopping.signal,
      kinds: kinds ?? notifications.events,
      channels: [{ name: 'desktop', send: send ?? noted }],
      onProblem: (reason) => problems.push(reason),
    },
  );
  const stop = async () => {
    stopping.abort();
    await done;
  };
  onTestFinished(stop);
  return { headlines, problems, stop };
}

async function running(project: Project, title: string): Promise<TaskId> {
  return (await startSession(project, await project.addTask(title))).task;
}

async function raise(project: Project, task: TaskId, attention: 'permission' | 'idle'): Promise<void> {
  must(await raiseAttention(project.context, task, { attention, message: null }));
}

async function until(look: () => boolean): Promise<void> {
  for (let looks = 0; looks < 200 && !look(); looks += 1) await sleep(50);
  expect(look()).toBe(true);
}

/** Long enough for several looks. */
const aWhile = () => sleep(400);

test('only events after the start are announced, and only of the configured kinds', async () => {
  const project = await openNew();
  const one = await running(project, 'One');
  await raise(project, one, 'permission');
  const told = await tell(project, { kinds: ['idle'] });
  await raise(project, one, 'idle');
  await until(() => told.headlines.length > 0);
  await raise(project, one, 'permission');
  await aWhile();
  expect(told.headlines).toEqual([`${one} waits for you: One`]);
});

test('of two orchestrators on a machine one announces, and the other takes over when the first ends', async () => {
  const project = await openNew();
  const one = await running(project, 'One');
  const first = await tell(project);
  await aWhile();
  const second = await tell(await openForTest(project.folder));
  await aWhile();
  await raise(project, one, 'idle');
  await until(() => first.headlines.length > 0);
  await aWhile();
  expect([first.headlines, second.headlines]).toEqual([[`${one} waits for you: One`], []]);
  await first.stop();
  await raise(project, one, 'permission');
  await until(() => second.headlines.length > 0);
  expect([first.headlines.length, second.headlines]).toEqual([1, [`${one} asks for permission: One`]]);
});

test('of two machines the one where the task runs announces', async () => {
  const project = await openNew();
  const one = await running(project, 'One');
  const elsewhere = await tell(project, { node: brand<NodeId>('n-else') });
  await raise(project, one, 'idle');
  await aWhile();
  await elsewhere.stop();
  expect(elsewhere.headlines).toEqual([]);
});

test('events right before the end are announced, and pending ones together', async () => {
  const project = await openNew();
  const tasks: TaskId[] = [];
  for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) tasks.push(await running(project, title));
  const told = await tell(project);
  for (const task of tasks.slice(0, 3)) {
    await raise(project, task, 'idle');
    await until(() => told.headlines.length === tasks.indexOf(task) + 1);
  }
  for (const task of tasks.slice(3)) await raise(project, task, 'idle');
  await aWhile();
  expect(told.headlines).toHaveLength(3);
  await told.stop();
  expect(told.headlines.slice(3)).toEqual(['News of 2 tasks']);
});

test('an unreachable channel blocks no other, is reported once, and is abandoned at the end', async () => {
  const project = await openNew();
  const [one, other] = [await running(project, 'One'), await running(project, 'Other')];
  const failing = await tell(project, { send: async () => ({ kind: 'failed' as const, reason: 'No bus.' }) });
  await raise(project, one, 'idle');
  await raise(project, other, 'idle');
  await until(() => failing.problems.length > 0);
  await aWhile();
  await failing.stop();
  expect(failing.problems).toEqual(['No bus.']);
  let begun = 0;
  const hanging = await tell(project, {
    send: (_, givenUp) => {
      begun += 1;
      return new Promise((resolve) => {
        givenUp.addEventListener('abort', () => resolve({ kind: 'failed' as const, reason: 'Given up.' }));
      });
    },
  });
  await raise(project, one, 'permission');
  await until(() => begun === 1);
  await raise(project, other, 'permission');
  await until(() => begun === 2);
  await hanging.stop();
  expect(hanging.problems).toEqual(['Given up.']);
});

test('a stalled queue is announced once after a while, also if it stalled while no process ran, and not once it moves', async () => {
  const project = await openNew();
  const { board, clock, by } = project.context;
  const task = await running(project, 'One');
  const main = brand<BranchName>('main');
  const record = (event: BoardEvent) => board.transact((transaction) => transaction.record(by, [event]));
  const stall = () =>
    record({ type: 'queue.stalled', id: main, at: clock.now(), reason: 'the remote refuses' });
  await record({
    type: 'landing.queued',
    id: brand<LandingId>('la-1'),
    at: clock.now(),
    task,
    target: main,
    attempt: null,
    head: brand<CommitId>('1f'.repeat(20)),
  });
  const told = await tell(project, { stallMs: 500 });
  await stall();
  await record({ type: 'queue.moving', id: main, at: clock.now() });
  await aWhile();
  await aWhile();
  expect(told.headlines).toEqual([]);
  await stall();
  await until(() => told.headlines.length > 0);
  await aWhile();
  await told.stop();
  expect(told.headlines).toEqual([`${task} waits in a stalled queue: One`]);
  const later = await tell(project, { stallMs: 0 });
  await aWhile();
  await later.stop();
  expect(later.headlines).toEqual([]);
  await record({ type: 'queue.moving', id: main, at: clock.now() });
  await stall();
  const next = await tell(project, { stallMs: 500 });
  await until(() => next.headlines.length > 0);
});

test('a process that takes over repeats nothing, and misses nothing that was recorded in between', async () => {
  const project = await openNew();
  const [one, two, three] = [
    await running(project, 'One'),
    await running(project, 'Two'),
    await running(project, 'Three'),
  ];
  const first = await tell(project);
  await raise(project, one, 'idle');
  await until(() => first.headlines.length > 0);
  // It waits for the lock since before these events, and its polls are rare.
  const second = await tell(await openForTest(project.folder), { pollMs: 60_000 });
  await raise(project, two, 'idle');
  await until(() => first.headlines.length > 1);
  await first.stop();
  await raise(project, three, 'idle');
  // Its end is its last chance.
  await second.stop();
  expect(second.headlines).toEqual([`${three} waits for you: Three`]);
});
