/** Snapshots of the board, putting one back, and rebuilding a lost board from what git knows. */

import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import { endAgents } from '../../support/agents/scripted-agents.ts';
import {
  type TaskDocument,
  answer,
  copse,
  copseProcess,
  finished,
  git,
  newArea,
  newTasks,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();
// Agents outlive the orchestrators that are stopped here.
afterAll(() => endAgents(area));

type At = ReturnType<typeof newProject>;

const boardOf = ({ cwd }: At) => path.join(cwd, '.copse', 'board.db');
const backupsOf = ({ cwd }: At) => path.join(cwd, '.copse', 'backups');
const snapshotsOf = (at: At) => readdirSync(backupsOf(at)).filter((name) => name.endsWith('.db'));

function loseBoard(at: At): void {
  for (const ending of ['', '-wal', '-shm', '-changed']) rmSync(`${boardOf(at)}${ending}`, { force: true });
}

function changeBoard(at: At, text: string): void {
  const database = new DatabaseSync(boardOf(at), { timeout: 5_000 });
  database.exec(text);
  database.close();
}

/** Only the events: SQLite still opens the rest. */
function damage(at: At): void {
  const database = new DatabaseSync(boardOf(at));
  database.exec('pragma wal_checkpoint(truncate)');
  const root = database.prepare("select rootpage from sqlite_master where name = 'events'").get();
  const size = database.prepare('pragma page_size').get();
  database.close();
  const [page, bytes] = [Number(root?.['rootpage']), Number(size?.['page_size'])];
  const content = readFileSync(boardOf(at));
  content.fill(0xa5, (page - 1) * bytes, page * bytes);
  writeFileSync(boardOf(at), content);
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 400 && !isTrue(); round += 1) await sleep(25);
  expect(isTrue()).toBe(true);
}

function running(at: At) {
  const child = startCopse(['orchestrate', '--command', 'sleep 600', '--poll-interval', '100ms'], at);
  return { child, ended: finished(child) };
}

describe('snapshots of the board', () => {
  // promise: board-backed-up
  test('are taken when an orchestrator starts, for their owner only', async () => {
    const at = newProject(area);
    const [task] = await newTasks(['Kept'], at);
    await answer(['edit', task.id, '--priority', 'p1', '--agent', 'nobody'], at);
    const { code } = await copseProcess(['orchestrate', '--once', '--command', 'true'], at);
    expect(code).toBe(0);
    const [name = '', ...others] = snapshotsOf(at);
    expect({ name, others }).toEqual({
      name: expect.stringMatching(/^\d{8}T\d{9}Z-start\.db$/) as string,
      others: [],
    });
    expect(statSync(path.join(backupsOf(at), name)).mode & 0o777).toBe(0o600);
    expect(statSync(backupsOf(at)).mode & 0o777).toBe(0o700);
    expect(await printed(['board', 'restore'], at)).toContain(`${name} (`);
  });

  // promise: board-backed-up
  test('are taken before a migration, and not at all of a damaged board', async () => {
    const at = newProject(area);
    await newTasks(['Kept'], at);
    changeBoard(at, 'drop table queues; update board set version = 4');
    await copse(['list'], at);
    expect(snapshotsOf(at)).toEqual([expect.stringMatching(/-migration\.db$/)]);
    const before = snapshotsOf(at);
    damage(at);
    const { code, stderr } = await copse(['board', 'backup'], at);
    expect(code).toBe(1);
    expect(stderr).toMatch(/damaged/);
    expect(snapshotsOf(at)).toEqual(before);
  });

  // promise: board-backed-up
  test('are put back, and the present board is kept aside', async () => {
    const at = newProject(area);
    const [first] = await newTasks(['First'], at);
    await answer(['board', 'backup'], at);
    const [second] = await newTasks(['Second'], at);
    const [name = ''] = snapshotsOf(at);

    const asked = await copse(['board', 'restore', name], at);
    expect({ code: asked.code, stderr: asked.stderr }).toMatchObject({ code: 2 });
    expect(asked.stderr).toContain(`copse board restore ${name} --yes`);

    const { aside } = await answer<{ aside: string }>(['board', 'restore', name, '--yes'], at);
    const list = await printed(['list'], at);
    expect(list).toContain(first.id);
    expect(list).not.toContain(second.id);
    await answer(['board', 'restore', path.join(aside, 'board.db'), '--yes'], at);
    expect(await printed(['list'], at)).toContain(second.id);
  });

  test('are put back in the place of a lost board', async () => {
    const at = newProject(area);
    const [first] = await newTasks(['First'], at);
    await answer(['board', 'backup'], at);
    loseBoard(at);
    const { stderr } = await copse(['list'], at);
    expect(stderr).toContain('copse board restore');
    await answer(['board', 'restore', snapshotsOf(at)[0] ?? '', '--yes'], at);
    expect(await printed(['list'], at)).toContain(first.id);
  });

  test('are refused for sessions, and beside a running orchestrator', async () => {
    const at = newProject(area);
    await newTasks(['First'], at);
    await answer(['board', 'backup'], at);
    const [name = ''] = snapshotsOf(at);
    const env = { COPSE_SESSION_ID: 'se-1', COPSE_TASK_ID: 'cp-aaaa', COPSE_TOKEN: '1' };
    const refused = await copse(['board', 'restore', name, '--yes'], { ...at, env });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('may not run');

    const { child, ended } = running(at);
    try {
      await until(() => snapshotsOf(at).some((one) => one.endsWith('-start.db')));
      for (const argv of [['restore', name, '--yes'], ['rebuild']]) {
        const { code, stderr } = await copse(['board', ...argv], at);
        expect({ code, stderr }).toEqual({
          code: 4,
          stderr: expect.stringContaining(`process ${child.pid}`) as string,
        });
      }
    } finally {
      child.kill('SIGINT');
      await ended;
    }
  });

  test('a file that is no board is not put in its place', async () => {
    const at = newProject(area);
    const [first] = await newTasks(['First'], at);
    writeFileSync(path.join(at.cwd, 'other.db'), '');
    const { code, stderr } = await copse(['board', 'restore', 'other.db', '--yes'], at);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('other.db is not a board') as string,
    });
    expect(await printed(['list'], at)).toContain(first.id);
  });
});

describe('versions of the board', () => {
  // promise: newer-board-refused
  test('a newer Copse does not migrate it under a running orchestrator', async () => {
    const at = newProject(area);
    await newTasks(['First'], at);
    const { child, ended } = running(at);
    try {
      await until(() => existsSync(backupsOf(at)) && snapshotsOf(at).length > 0);
      // As if this Copse were newer than the orchestrator by one migration.
      changeBoard(at, 'update board set version = version - 1');
      const { code, stderr } = await copse(['list'], at);
      expect(code).toBe(1);
      expect(stderr).toContain(`process ${child.pid}`);
      expect(stderr).toContain('would migrate the board');
    } finally {
      child.kill('SIGINT');
      await ended;
    }
  });

  // promise: newer-board-refused
  test('an orchestrator that meets a newer board stops, and uses up no retry', async () => {
    const at = newProject(area);
    const { child, ended } = running(at);
    await until(() => existsSync(backupsOf(at)) && snapshotsOf(at).length > 0);
    // In one transaction, so that it finds both at once.
    changeBoard(at, 'update board set version = 99');
    const timeout = setTimeoutKill(child);
    const { code, stderr } = await ended;
    clearTimeout(timeout);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('A newer Copse wrote the board') as string,
    });
  });
});

function setTimeoutKill(child: ReturnType<typeof startCopse>): NodeJS.Timeout {
  return globalThis.setTimeout(() => child.kill('SIGKILL'), 20_000);
}

describe('a lost board', () => {
  // promise: board-rebuilt
  test('is rebuilt from branches, worktrees, kept refs and trailers, and says what is unknown', async () => {
    const at = newProject(area);
    const finishedWork = await taken('Finished work', at);
    writeFileSync(path.join(finishedWork.worktree, 'done.txt'), 'x\n');
    git(finishedWork.worktree, 'add', '.');
    git(finishedWork.worktree, 'commit', '--quiet', '--message=feat: the finished work');
    const begun = await taken('Only begun', at);
    const landed = await taken('Landed', at);
    writeFileSync(path.join(landed.worktree, 'landed.txt'), 'x\n');
    git(landed.worktree, 'add', '.');
    git(landed.worktree, 'commit', '--quiet', `--message=feat: the landed work\n\nTask: ${landed.task}`);
    git(at.cwd, 'merge', '--quiet', '--no-ff', '--no-edit', landed.branch);
    const gone = 'cp-zzzz';
    git(at.cwd, 'update-ref', `refs/copse/keep/${gone}/1700000000000-abcdefabcdef`, 'HEAD~1');

    loseBoard(at);
    const { tasks } = await answer<{ tasks: readonly { id: string; title: string; status: string }[] }>(
      ['board', 'rebuild'],
      at,
    );
    const byId = Object.fromEntries(tasks.map((one) => [one.id, [one.status, one.title]]));
    expect(byId).toEqual({
      [finishedWork.task]: ['in_review', 'feat: the finished work'],
      [begun.task]: ['paused', begun.branch],
      [landed.task]: ['done', 'feat: the landed work'],
      [gone]: ['cancelled', `Task ${gone}`],
    });
    const shown = await answer<{ body: string }>(['show', finishedWork.task], at);
    expect(shown.body).toContain(`branch ${finishedWork.branch}`);
    expect(shown.body).toContain('Unknown: the title');
    expect(await answer(['board', 'rebuild'], at)).toMatchObject({ tasks: [] });

    // The work can go on: it is reviewed and lands.
    expect((await copse(['review', finishedWork.task, '--approve'], at)).stderr).toBe('');
    expect((await copse(['merge', finishedWork.task], at)).code).toBe(0);
    expect(git(at.cwd, 'show', 'HEAD:done.txt')).toBe('x');
    expect((await copse(['cleanup', begun.task, '--force'], at)).code).toBe(0);
  });

  test('may be replaced by an empty one if a person says so', async () => {
    const at = newProject(area);
    const { task } = await taken('Forgotten', at);
    loseBoard(at);
    expect((await copse(['list'], at)).code).toBe(1);
    await answer(['board', 'rebuild', '--empty'], at);
    expect(await printed(['list'], at)).not.toContain(task);
  });

  test('an older snapshot learns from trailers what landed since', async () => {
    const at = newProject(area);
    const landed = await taken('Landed', at);
    await answer(['board', 'backup'], at);
    writeFileSync(path.join(landed.worktree, 'landed.txt'), 'x\n');
    git(landed.worktree, 'add', '.');
    git(landed.worktree, 'commit', '--quiet', `--message=feat: it\n\nTask: ${landed.task}`);
    git(at.cwd, 'merge', '--quiet', '--ff-only', landed.branch);
    changeBoard(
      at,
      `update tasks set status = 'ready', data = json_set(data, '$.state', json('{"status":"ready","since":1,"delay":null}'))`,
    );
    await answer(['board', 'rebuild'], at);
    expect(await answer<TaskDocument>(['show', landed.task], at)).toMatchObject({ status: 'done' });
  });
});
