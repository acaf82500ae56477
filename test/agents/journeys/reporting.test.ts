/** What agents and people say about the work from inside a worktree, through the command line. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { keepLease } from '../../../packages/copse/src/agents/run/keep-lease.ts';
import { systemTimer } from '../../../packages/copse/src/compose/parts.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { decideCrash } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { type TaskDocument, answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';
import { taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();
let projects = 0;

async function openNew(): Promise<Project> {
  projects += 1;
  return openForTest(newProject(path.join(area, `it's "projekt" ${projects}`)));
}

/** With something committed, so that it can finish. */
async function newSession() {
  const project = await openNew();
  const agent = await startSession(project, await project.addTask());
  commitIn(agent.worktree);
  return { project, ...agent };
}

function commitIn(worktree: string): void {
  writeFileSync(path.join(worktree, 'work.txt'), 'done\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: do it');
}

const reportIn = (worktree: string): unknown =>
  JSON.parse(readFileSync(path.join(worktree, '.copse', 'session.json'), 'utf8'));

async function sessionState(project: Project, session: string) {
  return (await project.context.board.get('session', session))?.state;
}

/** The attempt crashes, its backoff passes, and another session takes the task. */
async function loseTask(project: Project, task: TaskId) {
  const { context } = project;
  must(
    await change(context, async (change) => {
      const before = await change.require('task', task);
      const noWait = { ...context.policy.retry, firstBackoffMs: 0 };
      await change.apply(decideCrash(before, before.token, 'gone', change.at, noWait));
    }),
  );
  return startSession(project, task);
}

async function refusedWith(argv: readonly string[], at: Parameters<typeof copse>[1]) {
  const { code, stdout, stderr } = await copse([...argv, '--json'], at);
  expect({ argv, stdout }).toEqual({ argv, stdout: '' });
  const { error } = JSON.parse(stderr) as { error: { code: string; reason: string; next: string[] } };
  return { exit: code, ...error };
}

describe('an agent', () => {
  test('finishes by a report that its runner reads; the task stays as it is until then', async () => {
    const { project, task, worktree, at } = await newSession();
    expect(await printed(['finish', '--summary', 'Did "it"\nwell'], at)).toBe(
      `Reported ${task} as finished.\nStop now. When your process has ended, Copse checks the work, then lands it, or tells you what to fix.\n`,
    );
    expect(reportIn(worktree)).toEqual({ status: 'finished', summary: 'Did "it"\nwell' });
    expect((await project.context.board.get('task', task))?.state.status).toBe('in_progress');
    expect(project.run(task, 'status', '--porcelain')).toBe('');
  });

  test('reports that nothing had to be done, and may withdraw that it is stuck', async () => {
    const { task, worktree, at } = await newSession();
    expect(await answer(['stuck', '--reason', 'Which one?'], at)).toEqual({
      task,
      reported: 'stuck',
      isDone: false,
    });
    expect(reportIn(worktree)).toEqual({ status: 'stuck', reason: 'Which one?' });
    expect(await answer(['finish', '--no-changes'], at)).toEqual({
      task,
      reported: 'finished',
      noChanges: true,
    });
    expect(reportIn(worktree)).toEqual({ status: 'finished', noChanges: true });
  });

  // promise: finish-by-facts
  test('is told at once what is missing; its report says that it tried, and not that it finished', async () => {
    const { project, task, worktree, at } = await newSession();
    writeFileSync(path.join(worktree, "left 'over'"), '');
    const dirty = await refusedWith(['finish'], at);
    expect(dirty).toMatchObject({ exit: 4, code: 'wrong_status' });
    expect(dirty.reason).toContain("left 'over'");
    const empty = await startSession(project, await project.addTask('Nothing yet'));
    expect((await refusedWith(['finish'], empty.at)).reason).toContain(
      `Nothing was committed for ${empty.task}`,
    );
    for (const one of [worktree, empty.worktree]) expect(reportIn(one)).toEqual({ triedToFinish: true });
    git(worktree, 'add', '.');
    git(worktree, 'commit', '--quiet', '--message=feat: left over');
    await answer(['finish'], at);
    expect(reportIn(worktree)).toEqual({ status: 'finished' });
    expect((await project.context.board.get('task', task))?.handbacks).toEqual({});
  });

  test('is not stuck without a reason', async () => {
    const { worktree, at } = await newSession();
    expect(await refusedWith(['stuck'], at)).toMatchObject({ exit: 2, code: 'invalid' });
    expect(await refusedWith(['stuck', '--reason', ' \n'], at)).toMatchObject({ exit: 2, code: 'invalid' });
    expect(existsSync(path.join(worktree, '.copse', 'session.json'))).toBe(false);
    await answer(['stuck', '--reason', '-'], { ...at, stdin: 'A\nlong one' });
    expect(reportIn(worktree)).toEqual({ status: 'stuck', reason: 'A\nlong one' });
  });

  test('reports its phase, forward only, with itself as the author', async () => {
    const { project, session, task, at } = await newSession();
    expect(await answer(['phase', 'working'], at)).toEqual({ task, phase: 'working' });
    expect(await sessionState(project, session)).toMatchObject({ life: 'live', phase: 'working' });
    const before = await project.context.board.lastEvent();
    await answer(['phase', 'working', task.slice(3)], at);
    expect(await project.context.board.lastEvent()).toBe(before);
    const [event] = await project.context.board.events({ after: (before - 1) as never, limit: 1 });
    expect(event).toMatchObject({ by: { kind: 'session', session }, event: { type: 'session.advanced' } });
    expect(await refusedWith(['phase', 'planning'], at)).toMatchObject({ exit: 4, code: 'backward' });
    for (const [word, next] of [
      ['complete', 'copse finish'],
      ['stuck', 'copse stuck --reason "…"'],
      ['dancing', 'copse phase working'],
    ] as const) {
      expect(await refusedWith(['phase', word], at)).toMatchObject({ exit: 2, next: [next] });
    }
  });

  test('says with a heartbeat that it is alive, and leaves the lease to its runner', async () => {
    const { project, task, at } = await newSession();
    const before = await project.context.board.lease(task);
    expect(await answer(['heartbeat'], at)).toEqual({ task, alive: true });
    const after = await project.context.board.lease(task);
    expect(after).toEqual(before);
  });

  test('writes into the ledger as itself', async () => {
    const { session, task, at } = await newSession();
    const entry = await answer(['ledger', 'add', 'learning', 'Tests need a database'], at);
    expect(entry).toMatchObject({ task, session, kind: 'learning' });
  });

  test('is known by its session in any folder of the repository', async () => {
    const { project, task, worktree, at } = await newSession();
    mkdirSync(path.join(worktree, 'deep'));
    for (const cwd of [path.join(worktree, 'deep'), project.folder]) {
      await answer(['finish'], { ...at, cwd });
      expect(await answer(['heartbeat'], { ...at, cwd })).toEqual({ task, alive: true });
    }
    expect(reportIn(worktree)).toEqual({ status: 'finished' });
    expect(existsSync(path.join(project.folder, '.copse', 'session.json'))).toBe(false);
  });
});

const speaking = [
  ['finish'],
  ['finish', '--no-changes'],
  ['stuck', '--reason', 'x'],
  ['phase', 'working'],
  ['heartbeat'],
] as const;

describe('an agent that reports for another task', () => {
  // promise: own-task-only
  test('is refused, and nothing changes, although the other task has the same token', async () => {
    const { project, session, task, token, at } = await newSession();
    const other = await startSession(project, await project.addTask('Other'));
    expect(other.token).toBe(token);
    const before = await project.context.board.lastEvent();
    const lease = await project.context.board.lease(other.task);
    const ledger = ['ledger', 'add', 'learning', 'x', '--task', other.task];
    for (const argv of [...speaking.map((words) => [...words, other.task]), ledger]) {
      const refused = await refusedWith(argv, at);
      expect({ argv, ...refused }).toMatchObject({
        argv,
        exit: 4,
        code: 'not_this_session',
        reason: `Session ${session} works on ${task} and cannot report about ${other.task}.`,
      });
    }
    expect(await project.context.board.lastEvent()).toBe(before);
    expect(await project.context.board.lease(other.task)).toEqual(lease);
    expect(existsSync(path.join(other.worktree, '.copse', 'session.json'))).toBe(false);
  });

  test('reports for its own task in the worktree of another, unless it names that one', async () => {
    const { project, task, worktree, at } = await newSession();
    const other = await startSession(project, await project.addTask('Other'));
    expect(await answer(['finish'], { ...at, cwd: other.worktree })).toMatchObject({ task });
    expect(reportIn(worktree)).toEqual({ status: 'finished' });
    expect(existsSync(path.join(other.worktree, '.copse', 'session.json'))).toBe(false);
    const env = { ...at.env, COPSE_TASK_ID: other.task };
    expect(await refusedWith(['ledger', 'add', 'learning', 'x'], { ...at, env })).toMatchObject({
      code: 'not_this_session',
    });
  });

  test('is refused on a board that does not know its session', async () => {
    const { at } = await newSession();
    const elsewhere = await newSession();
    const here = { ...at, cwd: elsewhere.worktree };
    expect(await refusedWith(['finish'], here)).toMatchObject({ exit: 4, code: 'not_this_session' });
    expect(existsSync(path.join(elsewhere.worktree, '.copse', 'session.json'))).toBe(false);
  });
});

describe('an agent whose task was taken over', () => {
  // setting: policy.lease_renewal
  test('loses its lease at the next change of the board, before it would renew it', async () => {
    const { project, task } = await newSession();
    const { board, policy } = project.context;
    const renewed = Promise.withResolvers<void>();
    const lease = { ...policy.lease, renewEveryMs: 600_000, lookAfterMs: 1 };
    const timer: typeof systemTimer = {
      ...systemTimer,
      sleep: (ms, signal) => {
        if (ms === lease.renewEveryMs) renewed.resolve();
        return systemTimer.sleep(ms, signal);
      },
    };
    const { token } = (await board.get('task', task))!;
    const keeper = await keepLease({ board, clock: timer, policy: { ...policy, lease } }, task, token);
    await renewed.promise;
    const lost = new Promise((resolve) => keeper.lost.addEventListener('abort', resolve));
    await loseTask(project, task);
    await lost;
    expect(keeper.lost.aborted).toBe(true);
    await keeper.stop();
  });

  // promise: stale-token-fenced
  test('is told that its token is stale, and changes nothing', async () => {
    const { project, task, worktree, at } = await newSession();
    const successor = await loseTask(project, task);
    const before = await project.context.board.lastEvent();
    const lease = await project.context.board.lease(task);
    for (const argv of [...speaking, ['ledger', 'add', 'learning', 'x']]) {
      expect({ argv, ...(await refusedWith(argv, at)) }).toMatchObject({ argv, exit: 4, code: 'fenced' });
    }
    expect(await project.context.board.lastEvent()).toBe(before);
    expect(await project.context.board.lease(task)).toEqual(lease);
    expect(existsSync(path.join(worktree, '.copse', 'session.json'))).toBe(false);
    await answer(['finish'], successor.at);
    expect(reportIn(worktree)).toEqual({ status: 'finished' });
  });

  test.each(['', 'x', '-1', '1e3', '99999999999999999999'])('is refused with the token %j', async (token) => {
    const { worktree, at } = await newSession();
    const { code } = await copse(['finish'], { cwd: at.cwd, env: { ...at.env, COPSE_TOKEN: token } });
    // Without a token there is no session: then it is the person in the worktree.
    expect(code).toBe(token === '' ? 0 : 4);
    expect(existsSync(path.join(worktree, '.copse', 'session.json'))).toBe(token === '');
  });
});

describe('a command for people', () => {
  const forPeople = [
    'edit ID --title x',
    'delete ID',
    'rm ID',
    'work ID --resume',
    'work ID --reset',
    'cleanup ID --force',
    'cleanup',
    'undo ID',
    'review ID --approve',
    'tend',
    'import -',
    'plan add x',
    'prd add x',
    'rescue restore x',
    'rescue move ID',
    'config accept-remotes',
    'sync OTHER',
    'diff OTHER --uncommitted',
  ];

  // promise: people-only
  test('is refused to an agent in one sentence', async () => {
    const { project, session, task, at } = await newSession();
    const other = await startSession(project, await project.addTask('Other'));
    const before = await project.context.board.lastEvent();
    for (const line of forPeople) {
      const argv = line.replace('ID', task).replace('OTHER', other.task).split(' ');
      const refused = await refusedWith(argv, at);
      expect({ line, ...refused }).toMatchObject({ line, exit: 4, code: 'not_this_session' });
      expect(refused.reason).toMatch(
        new RegExp(
          `^Session ${session} may not run copse [a-z]+.*: agents may only read, add tasks and report`,
        ),
      );
    }
    // What another agent printed; this command has no --json.
    expect(await copse(['logs', other.task], at)).toMatchObject({ code: 4, stdout: '' });
    const inOther = { ...at, cwd: other.worktree };
    for (const command of ['sync', 'diff'])
      expect(await refusedWith([command], inOther)).toMatchObject({ exit: 4, code: 'not_this_session' });
    expect(await project.context.board.lastEvent()).toBe(before);
  });

  const forAll = [
    'list',
    'ls',
    'show ID',
    'plan list',
    'prd list',
    'ledger list',
    'worktrees',
    'diff',
    'diff ID --uncommitted',
    'sync',
    'sync ID',
    'rescue list',
    'config show',
  ];

  test('does not include reading and syncing its own task', async () => {
    const { task, at } = await newSession();
    for (const line of forAll) {
      expect(await answer(line.replace('ID', task).split(' '), at)).toBeTypeOf('object');
    }
  });
});

// promise: people-only
test('an agent adds tasks for others while it holds its own, and only then', async () => {
  const { project, session, task, at } = await newSession();
  const added = await answer<TaskDocument>(['add', 'Found on the way', '--depends', task], at);
  expect(added.status).toBe('pending');
  const after = ((await project.context.board.lastEvent()) - 1) as never;
  const [event] = await project.context.board.events({ after, limit: 1 });
  expect(event).toMatchObject({ by: { kind: 'session', session }, event: { type: 'task.created' } });
  await loseTask(project, task);
  expect(await refusedWith(['add', 'Too late'], at)).toMatchObject({ exit: 4, code: 'fenced' });
});

describe('a person', () => {
  test('a person who works by hand reports stuck, and the task is stuck', async () => {
    const project = await openNew();
    const { task, worktree } = await taken('By hand', { cwd: project.folder });
    const at = { cwd: worktree };
    expect(await answer(['phase', 'shipping'], at)).toEqual({ task, phase: 'shipping' });
    await answer(['heartbeat'], at);
    expect(await answer(['ledger', 'add', 'decision', 'Later'], at)).toMatchObject({ task, session: null });
    expect(await printed(['stuck', '--reason', 'Ask Bob'], at)).toContain(`copse restart ${task}`);
    expect(await answer<TaskDocument>(['show', task], at)).toMatchObject({
      status: 'stuck',
      reason: 'Ask Bob',
    });
    const session = (await project.context.board.get('task', task))?.session ?? '';
    expect(await sessionState(project, session)).toMatchObject({ life: 'stuck', reason: 'Ask Bob' });
    expect(existsSync(path.join(worktree, '.copse', 'session.json'))).toBe(false);
    for (const argv of speaking)
      expect(await refusedWith(argv, at)).toMatchObject({ exit: 4, code: 'wrong_status' });
  });

  test('a person who works by hand finishes, and the task follows the landing policy', async () => {
    const project = await openNew();
    const { task, worktree } = await taken('By hand', { cwd: project.folder });
    const at = { cwd: worktree };
    expect((await refusedWith(['finish'], at)).reason).toContain('Nothing was committed');
    expect((await project.context.board.get('task', task))?.state.status).toBe('in_progress');
    commitIn(worktree);
    await answer(['finish'], at);
    expect((await project.context.board.get('task', task))?.state.status).toBe('landing');
    expect(existsSync(path.join(worktree, '.copse', 'session.json'))).toBe(false);
  });

  test('reports for an agent from inside its worktree, and not from elsewhere', async () => {
    const { project, task, worktree } = await newSession();
    for (const argv of speaking) {
      expect(await refusedWith([...argv, task], { cwd: project.folder })).toMatchObject({
        exit: 4,
        code: 'not_this_session',
        reason: expect.stringMatching(
          new RegExp(`^Agent ".+" \\(node .+\\) works on ${task}; only that agent can report it\\.$`),
        ) as string,
      });
    }
    expect(existsSync(path.join(worktree, '.copse', 'session.json'))).toBe(false);
    await answer(['finish', task], { cwd: worktree });
    expect(reportIn(worktree)).toEqual({ status: 'finished' });
  });

  test('does not report for another person', async () => {
    const project = await openNew();
    const { worktree } = await taken('By hand', { cwd: project.folder });
    const at = { cwd: worktree, env: { USER: 'bob' } };
    for (const argv of speaking)
      expect(await refusedWith(argv, at)).toMatchObject({ exit: 4, code: 'not_this_session' });
  });

  test('outside any worktree has to name a task', async () => {
    const project = await openNew();
    for (const argv of [...speaking, ['ledger', 'add', 'learning', 'x']]) {
      const refused = await refusedWith(argv, { cwd: project.folder });
      expect(refused).toMatchObject({ exit: 2, code: 'invalid' });
      expect(refused.reason).toMatch(/^No task given, and .* is not a task's worktree\.$/);
    }
  });

  test('a command in a session without its token counts as a person’s', async () => {
    const { project, at, task } = await newSession();
    const { COPSE_TOKEN: _, ...env } = at.env;
    await answer(['edit', task, '--title', 'New'], { cwd: project.folder, env });
    const [event] = await project.context.board.events({
      after: ((await project.context.board.lastEvent()) - 1) as never,
      limit: 1,
    });
    expect(event).toMatchObject({ by: { kind: 'person', name: 'ada' }, event: { type: 'task.edited' } });
  });
});

test.each(['finish', 'stuck', 'phase', 'heartbeat'])(
  'copse %s explains itself with an example',
  async (command) => {
    const help = await printed([command, '--help'], { cwd: area });
    expect(help).toMatch(new RegExp(`Usage: copse ${command} `));
    expect(help).toMatch(new RegExp(`Examples:\n {2}copse ${command}`));
  },
);
