/** What has to be true when a run is over, whatever was killed on the way. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import { type RecordedEvent, replay, recordKinds } from '../../../packages/copse/src/board/rules/event.ts';
import { type EventNumber, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { TaskStatus } from '../../../packages/copse/src/tasks/rules/task.ts';
import { git, plainEnv } from '../cli.ts';
import type { Run } from './runs.ts';
import { everythingIn, expectSound } from '../workspaces/workspaces.ts';

/** How a task of this kind ends by its own doing. */
const ends: Readonly<Record<string, TaskStatus>> = {
  steps: 'done',
  dirt: 'done',
  crash: 'done',
  wipe: 'done',
  fork: 'done',
  nothing: 'done',
  clash: 'done',
  long: 'done',
  locked: 'done',
  ask: 'stuck',
  stubborn: 'needs_attention',
  hopeless: 'failed',
};

/** With the run's whole story when it is not so. */
export async function explained<T>(run: Run, what: () => Promise<T>): Promise<T> {
  try {
    return await what();
  } catch (error) {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`${said}\n${await run.story()}`, { cause: error });
  }
}

export async function expectGoodEnd(run: Run): Promise<void> {
  await expectOwnEnds(run);
  expectNothingLost(run);
  await expectLandedOnce(run);
  await expectNothingLeft(run);
  await expectTold(run);
}

async function expectOwnEnds(run: Run): Promise<void> {
  const statuses = await run.statuses();
  const expected = Object.keys(statuses).map((title) => [title, ends[title.split(' ')[0] ?? '']]);
  expect(statuses).toEqual(Object.fromEntries(expected));
}

interface Said {
  readonly task: string;
  readonly token: string;
  readonly commit: string | null;
}

function saidIn(run: Run, what: 'wrote' | 'committed'): readonly Said[] {
  return run.said().flatMap((line) => {
    const [word, task = '', ...rest] = line.split(' ');
    if (word !== what) return [];
    const token = rest.at(-1) ?? '';
    return [{ task, token, commit: rest.length > 1 ? (rest[0] ?? null) : null }];
  });
}

/** What an agent wrote is in a worktree, in the trash or behind a ref; what it committed is behind a ref, as it was or landed. */
function expectNothingLost(run: Run): void {
  const everything = everythingIn(run.folder);
  expect(saidIn(run, 'wrote').filter(({ token }) => !everything.includes(`text of ${token}\n`))).toEqual([]);
  const reachable = new Set(git(run.folder, 'rev-list', '--all').split('\n'));
  const landed = new Set(filesOfMain(run));
  const lost = saidIn(run, 'committed').filter(
    ({ task, token, commit }) => !reachable.has(commit ?? '') && !landed.has(`work/${task}/${token}.txt`),
  );
  expect(lost).toEqual([]);
}

/** Each commit of a task that is done is on main, and once. */
async function expectLandedOnce(run: Run): Promise<void> {
  const subjects = git(run.folder, 'log', '--format=%s', 'main').split('\n');
  const files = new Set(filesOfMain(run));
  const tasks = await run.context.board.tasks({ order: 'urgent' });
  const done = new Set(tasks.filter(({ state }) => state.status === 'done').map(({ id }) => id as string));
  const wrong = saidIn(run, 'committed').flatMap(({ task, token }) => {
    const count = subjects.filter((subject) => subject === `feat: ${token}`).length;
    const isThere = files.has(`work/${task}/${token}.txt`);
    const isRight = done.has(task) ? isThere && count <= 1 : !isThere && count === 0;
    return isRight ? [] : [{ task, token, count, isThere, isDone: done.has(task) }];
  });
  expect(wrong).toEqual([]);
  // Only these commits are there, and none twice under another name.
  const patches = execFileSync('sh', ['-c', 'git log --patch main | git patch-id --stable | cut -d" " -f1'], {
    cwd: run.folder,
    env: plainEnv,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean);
  expect(new Set(patches).size).toBe(patches.length);
}

function filesOfMain(run: Run): readonly string[] {
  return git(run.folder, 'ls-tree', '-r', '-z', '--name-only', 'main').split('\0');
}

export async function expectNothingLeft(run: Run): Promise<void> {
  // A runner that has told the board how it ended still has to go.
  for (let looks = 0; run.processes().length > 0 && looks < 250; looks += 1) await sleep(20);
  expect(run.processes()).toEqual([]);
  expect(await run.context.board.held()).toEqual([]);
  expect(await run.context.board.openLandings()).toEqual([]);
  const attempts = path.join(run.folder, '.copse', 'attempts');
  expect(existsSync(attempts) ? readdirSync(attempts) : []).toEqual([]);
  expectNoLocks(run);
  expect(git(run.folder, 'status', '--porcelain', '--untracked-files=no')).toBe('');
  expectSound(run.folder);
  const tasks = await run.context.board.tasks({ order: 'urgent' });
  const isDone = (id: string) => tasks.some((task) => task.id === id && task.state.status === 'done');
  const places = path.join(run.folder, '.worktrees');
  const kept = existsSync(places) ? readdirSync(places).filter(isDone) : [];
  expect(kept).toEqual([]);
}

function expectNoLocks(run: Run): void {
  const names = readdirSync(path.join(run.folder, '.git'), { recursive: true, encoding: 'utf8' });
  expect(names.filter((name) => name.endsWith('.lock'))).toEqual([]);
  expect(git(run.folder, 'for-each-ref', 'refs/copse/candidate')).toBe('');
}

/** The events alone make the records; every attempt ended once; tokens only grew. */
export async function expectTold(run: Run): Promise<void> {
  const { board } = run.context;
  const events = await board.events({ after: brand<EventNumber>(0), limit: 10_000 });
  expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => index + 1));
  const told = replay(events.map(({ event }) => event));
  for (const kind of recordKinds) {
    if (kind === 'task') continue;
    const records = await board.list(kind);
    expect(new Map(records.map((record) => [record.id as string, record]))).toEqual(told[kind]);
  }
  for (const { id } of await board.tasks({ order: 'urgent' }))
    expect(await board.get('task', id)).toEqual(told.task.get(id));
  const of = (type: string) => events.filter(({ event }) => event.type === type);
  const ids = (type: string) => of(type).map(({ event }) => event.id);
  expect(ids('attempt.ended').toSorted()).toEqual(ids('attempt.started').toSorted());
  for (const type of ['attempt.ended', 'landing.landed', 'task.done'])
    expect(new Set(ids(type)).size).toBe(ids(type).length);
  expectGrowing(of('attempt.started'));
}

function expectGrowing(started: readonly RecordedEvent[]): void {
  const last = new Map<string, number>();
  for (const { event } of started) {
    if (event.type !== 'attempt.started') continue;
    expect(event.token).toBeGreaterThan(last.get(event.task) ?? 0);
    last.set(event.task, event.token);
  }
}
