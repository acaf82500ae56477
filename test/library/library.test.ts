/** The library in this process, on real repositories: calls, errors, events, and what closing frees. */

import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test, vi } from 'vitest';

import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import type { Copse, CopseEvent } from '../../packages/copse/src/library/copse.ts';
import { CopseError } from '../../packages/copse/src/library/copse-error.ts';
import { openFor } from '../../packages/copse/src/library/opened.ts';
import { answer, copse as run, git, newArea, newRepository, plainEnv } from '../support/cli.ts';
import { processesAbout } from '../support/processes-about.ts';
import { startSession } from '../support/records/sessions.ts';
import { newProject, openForTest } from '../support/workspaces/workspaces.ts';

const area = newArea();
const opened = new Set<Copse>();
afterAll(() => Promise.all([...opened].map((one) => one.close())));

async function open(cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Copse> {
  const copse = await openFor({ cwd, env: { ...plainEnv, ...env } });
  opened.add(copse);
  return copse;
}

/** The file of a board of its own, with one task. */
async function otherBoard(): Promise<string> {
  const cwd = newRepository(area);
  await run(['add', 'Of another board'], { cwd });
  return path.join(cwd, '.copse', 'board.db');
}

/** As `copse board restore` does: another file in its place. */
function replaceBoard(cwd: string, other: string): void {
  const board = path.join(cwd, '.copse', 'board.db');
  for (const end of ['', '-wal', '-shm']) rmSync(`${board}${end}`, { force: true });
  renameSync(other, board);
}

async function taken(events: AsyncIterator<CopseEvent>, count: number): Promise<readonly CopseEvent[]> {
  const all: CopseEvent[] = [];
  while (all.length < count) all.push((await events.next()).value as CopseEvent);
  return all;
}

async function failureOf(call: Promise<unknown>): Promise<CopseError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CopseError);
  return error as CopseError;
}

describe('calls', () => {
  test('do what the command line does, and return what it prints', async () => {
    const cwd = newRepository(area);
    const copse = await open(cwd);
    const { id } = await copse.task.add({ title: 'From a program', areas: ['src/**'] });
    await copse.task.edit({ task: id.slice(0, 6), priority: 'p5' });
    const shown = await copse.task.show({ task: id });
    expect(shown).toEqual(await answer(['show', id], { cwd }));
    expect(shown).toMatchObject({ priority: 'p5', areas: ['src/**'], status: 'ready' });
    expect((await copse.task.list()).tasks.map((task) => task.id)).toEqual([id]);
    expect((await copse.inbox.list()).needsYou).toEqual([]);
  });

  test.each<[string, (copse: Copse) => Promise<unknown>, object]>([
    [
      'a task that does not exist',
      (copse) => copse.task.pause({ task: 'cp-none' }),
      { code: 'not_found', next: ['copse list'] },
    ],
    [
      'a missing field',
      (copse) => copse.task.pause({} as never),
      { code: 'invalid', reason: expect.stringContaining('task'), next: ['copse pause --help'] },
    ],
    ['no input', (copse) => copse.task.pause(undefined as never), { code: 'invalid' }],
    ['null', (copse) => copse.task.pause(null as never), { code: 'invalid' }],
    [
      'a field that it does not know',
      (copse) => copse.task.list({ folder: '/' } as never),
      { code: 'invalid', reason: expect.stringContaining('folder') },
    ],
    [
      'a prototype',
      (copse) => copse.task.list(JSON.parse('{"__proto__": {"all": true}}') as never),
      { code: 'invalid' },
    ],
  ])('with %s fail with one class of error', async (_, call, expected) => {
    const error = await failureOf(call(await open(newRepository(area))));
    expect(error).toMatchObject({ name: 'CopseError', message: error.reason, ...expected });
    expect(error.next.length).toBeGreaterThan(0);
  });

  test('a folder without a repository is refused at once', async () => {
    const error = await failureOf(openFor({ cwd: area, env: plainEnv }));
    expect(error).toMatchObject({ code: 'unavailable', next: [expect.stringContaining('git init')] });
  });

  test('several in one process and the command line see each other’s changes', async () => {
    const cwd = newRepository(area);
    const [one, other, elsewhere] = await Promise.all([open(cwd), open(cwd), open(newRepository(area))]);
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const by = [one, other][index % 2] ?? one;
        return (await by.task.add({ title: `Task ${index}` })).id;
      }),
    );
    await run(['cancel', ids[0] ?? ''], { cwd });
    expect((await other.task.show({ task: ids[0] })).status).toBe('cancelled');
    expect((await one.task.list({ all: true })).tasks).toHaveLength(6);
    expect((await elsewhere.task.list({ all: true })).tasks).toEqual([]);
  });

  test('use the settings and the board that are there now', async () => {
    const cwd = newRepository(area);
    const settings = path.join(cwd, 'copse.yml');
    writeFileSync(settings, 'agents: { early: { command: "true" } }\n');
    const copse = await open(cwd);
    await copse.task.add({ title: 'Before', agent: 'early' });
    expect(await failureOf(copse.task.add({ title: 'x', agent: 'late' }))).toMatchObject({ code: 'invalid' });
    writeFileSync(settings, 'agents: { late: { command: "true" } }\n');
    await run(['config', 'accept'], { cwd });
    expect(await copse.task.add({ title: 'After', agent: 'late' })).toMatchObject({ agent: 'late' });
    replaceBoard(cwd, await otherBoard());
    const { tasks } = await copse.task.list();
    expect(tasks.map(({ title }) => title)).toEqual(['Of another board']);
  });
});

test('an agent whose sandbox works meanwhile can be used without opening anew', async () => {
  const cwd = newRepository(area);
  const bin = mkdtempSync(path.join(area, 'bin '));
  const docker = { enabled: true, image: 'some/image' };
  writeFileSync(
    path.join(cwd, 'copse.yml'),
    JSON.stringify({ agents: { one: { command: 'true', docker } } }),
  );
  const isFine = path.join(bin, 'fine');
  const program = `#!/bin/sh\n[ -e '${isFine}' ] || { echo 'no daemon' >&2; exit 1; }\n`;
  writeFileSync(path.join(bin, 'docker'), program, { mode: 0o755 });
  const copse = await open(cwd, { PATH: [bin, process.env['PATH']].join(path.delimiter) });
  const { id } = await copse.task.add({ title: 'One', agent: 'one' });
  const because = async () => (await copse.task.why({ task: id })).because.join('\n');
  expect(await because()).toContain('Docker does not answer: no daemon');
  writeFileSync(isFine, '');
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 11_000);
  try {
    expect(await because()).not.toContain('Docker');
  } finally {
    later.mockRestore();
  }
});

test('calls that ask git share its processes, and closing ends them', async () => {
  const cwd = newRepository(area);
  // In a pack, objects are read by a git that lives on.
  git(cwd, 'gc', '--quiet');
  const copse = await open(cwd);
  const { id } = await copse.task.add({ title: 'One' });
  await copse.task.why({ task: id });
  const atFirst = processesAbout(cwd).length;
  for (let call = 0; call < 3; call += 1) await copse.task.why({ task: id });
  expect(processesAbout(cwd)).toHaveLength(atFirst);
  await copse.close();
  expect(processesAbout(cwd)).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('a call with a command keeps nothing open', async () => {
  const cwd = newRepository(area);
  const copse = await open(cwd);
  const call = (command: string) => failureOf(copse.task.resume({ task: 'cp-none', command }));
  await failureOf(copse.task.resume({ task: 'cp-none' }));
  // SQLite keeps one file for the next connection.
  await call('first');
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      const file = path.join('/proc/self/fd', fd);
      return (
        lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(file).startsWith(cwd)
      );
    }).length;
  const atFirst = openFiles();
  for (const command of ['one', 'other', 'third']) await call(command);
  expect(openFiles()).toBe(atFirst);
});

// promise: library-sessions
test('in an agent’s session, a program may do what that session may do', async () => {
  const project = await openForTest(newProject(area));
  const { at, task } = await startSession(project, await project.addTask());
  const other = await project.addTask();
  const copse = await open(at.cwd, at.env);
  expect(await copse.task.add({ title: 'Found on the way' })).toMatchObject({ addedBy: task });
  for (const call of [
    () => copse.task.cancel({ task: other }),
    () => copse.task.delete({ tasks: [task] }),
    () => copse.task.edit({ task, accept: [] }),
    () => copse.question.answer({ task, isAllowed: true }),
  ])
    expect(await failureOf(call())).toMatchObject({ code: 'not_this_session' });
  // A process of the session that lost its token is no person.
  const { COPSE_TOKEN: _, ...tokenless } = at.env;
  const lost = await open(at.cwd, tokenless);
  expect(await lost.task.show({ task: other })).toMatchObject({ id: other });
  for (const call of [() => lost.task.add({ title: 'No' }), () => lost.task.cancel({ task: other })])
    expect(await failureOf(call())).toMatchObject({ code: 'not_this_session' });
});

describe('events', () => {
  test('come from the cursor on, in order, and new ones as they happen', async () => {
    const cwd = newRepository(area);
    const copse = await open(cwd);
    const { id } = await copse.task.add({ title: 'One' });
    const first = copse.events();
    const [added] = await taken(first, 1);
    expect(added).toMatchObject({ type: 'task.created', id, number: 1, cursor: '1:1' });
    const after = await copse.cursor();
    const news = copse.events({ after });
    const next = taken(news, 2);
    await run(['edit', id, '--priority', 'p5'], { cwd });
    await copse.task.cancel({ task: id });
    const got = await next;
    expect(got.map(({ type }) => type)).toEqual(['task.edited', 'task.cancelled']);
    // Another program goes on where this one stopped.
    const resumed = await taken(copse.events({ after: got[0]?.cursor }), 1);
    expect(resumed).toEqual([got[1]]);
    expect(await taken(copse.events({ after: 0 }), 3)).toHaveLength(3);
  });

  test('end with break, with a signal and with close; those that are not read too', async () => {
    const copse = await open(newRepository(area));
    await copse.task.add({ title: 'One' });
    for await (const event of copse.events()) {
      expect(event.number).toBe(1);
      break;
    }
    const abort = new AbortController();
    const ended: string[] = [];
    const follow = async (name: string, signal?: AbortSignal) => {
      for await (const { number } of copse.events({ after: 0, signal }))
        if (number === 1 && name === 'signal') abort.abort();
      ended.push(name);
    };
    const closed = follow('close');
    await follow('signal', abort.signal);
    const [unread, unstarted] = [copse.events(), copse.events()];
    await unread.next();
    await copse.close();
    await closed;
    expect(ended).toEqual(['signal', 'close']);
    expect(await unread.next()).toEqual({ done: true, value: undefined });
    expect(await unstarted.next()).toEqual({ done: true, value: undefined });
    for (const late of [copse.task.list(), copse.events().next(), copse.cursor()])
      expect(await failureOf(late)).toMatchObject({ code: 'unavailable', reason: 'This copse is closed.' });
    await copse.close();
  });

  test('of a board that is replaced end with an error', async () => {
    const cwd = newRepository(area);
    const copse = await open(cwd);
    await copse.task.add({ title: 'One' });
    const other = await otherBoard();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const events = copse.events();
      await taken(events, 1);
      const next = events.next();
      replaceBoard(cwd, other);
      vi.advanceTimersByTime(defaultPolicy.replacedBoard.lookEveryMs);
      expect(await failureOf(next)).toMatchObject({
        code: 'unavailable',
        reason: 'The board was removed or replaced.',
      });
    } finally {
      vi.useRealTimers();
    }
  });

  test.each(['x', '-1', '1:2:3', '', Number.NaN, -1, 1.5])('no cursor: %j', async (after) => {
    const copse = await open(newRepository(area));
    expect(await failureOf(copse.events({ after }).next())).toMatchObject({ code: 'invalid' });
  });

  test('that the board does not have any more are told, or end it', async () => {
    const copse = await open(newRepository(area));
    await copse.task.add({ title: 'One' });
    const error = await failureOf(copse.events({ after: '1:7' }).next());
    expect(error).toMatchObject({ code: 'unavailable', reason: expect.stringContaining('2 to 7 are lost') });
    const lost: object[] = [];
    const events = copse.events({ after: '1:7', onLost: (range) => lost.push(range) });
    const next = events.next();
    await copse.task.add({ title: 'Two' });
    expect((await next).value).toMatchObject({ number: 2, type: 'task.created' });
    expect(lost).toEqual([{ from: 2, to: 7 }]);
  });
});
