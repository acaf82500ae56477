/** Tasks on the command line, as a new user meets them. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import { type ArtifactId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { person } from '../../support/board/boards.ts';
import {
  type TaskDocument,
  answer,
  copse,
  newArea,
  newRepository,
  newTasks,
  printed,
} from '../../support/cli.ts';

const area = newArea();
let cwd: string;

beforeAll(() => {
  cwd = newRepository(area);
});

const TITLE = 'Größe ändern / fix: ünïcode 😀';

describe('copse add', () => {
  test('takes a title and prints one task with every key that scripts rely on', async () => {
    const task = await answer<Record<string, unknown>>(['add', TITLE], { cwd });
    expect(task).toMatchObject({
      title: TITLE,
      body: '',
      status: 'ready',
      priority: 'p3',
      kind: 'code',
      dependsOn: [],
      areas: [],
      requires: [],
      plan: null,
      agent: null,
      accept: [],
      reason: null,
      session: null,
    });
    expect(task['id']).toMatch(/^cp-[0-9a-z]{4,}$/);
    expect(Date.now() - Date.parse(String(task['createdAt']))).toBeLessThan(60_000);
    expect(new Date(String(task['createdAt'])).toISOString()).toBe(task['createdAt']);
  });

  test('keeps all given fields, and show and list print them', async () => {
    const plan = await answer<{ id: string }>(['plan', 'add', 'Why'], { cwd });
    const [first, second] = await newTasks(['Before', 'Before too'], { cwd });
    const argv = [
      'add',
      'All',
      'at',
      'once',
      '--body',
      'Line 1\nLine 2',
      '--priority',
      'P5',
      '--kind',
      'non-code',
    ];
    const lists = [
      '--area',
      'src/**',
      '--area',
      'docs/a,b.md',
      '--requires',
      'sql,node:22',
      '--accept',
      'npm test',
    ];
    const links = ['--depends', `${first.id},${second.id}`, '--plan', plan.id, '--agent', 'coder'];
    const added = await answer<TaskDocument>([...argv, ...lists, ...links], { cwd });
    expect(added).toMatchObject({
      title: 'All at once',
      body: 'Line 1\nLine 2',
      status: 'pending',
      priority: 'p5',
      kind: 'non-code',
      areas: ['src/**', 'docs/a,b.md'],
      requires: ['sql', 'node:22'],
      accept: ['npm test'],
      dependsOn: [first.id, second.id],
      plan: plan.id,
      agent: 'coder',
    });
    const shown = await answer<object>(['show', added.id], { cwd });
    const nothingYet = {
      attention: null,
      question: null,
      lastQuestion: null,
      phase: null,
      process: null,
      takenOver: null,
      workspace: null,
      attempts: [],
      landed: null,
      undone: null,
      summary: null,
      warnings: [],
      usage: null,
      item: null,
    };
    expect(shown).toEqual({ ...added, ...nothingYet, dependants: [], ledger: [], artifacts: [] });
    const { body: _, ...summary } = added as TaskDocument & { body: string };
    const { tasks } = await answer<{ tasks: TaskDocument[] }>(['list'], { cwd });
    expect(tasks.find(({ id }) => id === added.id)).toEqual({
      ...summary,
      phase: null,
      attention: null,
      message: null,
      askedBy: null,
      question: null,
      queue: null,
      collisions: [],
    });
    expect(await answer(['show', first.id], { cwd })).toMatchObject({ dependants: [added.id] });
  });

  test('reads the body from a file beside the caller and from standard input', async () => {
    writeFileSync(path.join(cwd, '.git', 'bödy.md'), 'From a file\r\n\u0000\u2028 end');
    const fromFile = ['add', 'File', '--body-file', 'bödy.md'];
    expect(await answer(fromFile, { cwd: path.join(cwd, '.git') })).toMatchObject({
      body: 'From a file\r\n\u0000\u2028 end',
    });
    const fromInput = ['add', 'Input', '--body-file', '-'];
    expect(await answer(fromInput, { cwd, stdin: 'From standard input 😀' })).toMatchObject({
      body: 'From standard input 😀',
    });
  });

  test('accepts a title that begins with a dash after --', async () => {
    const text = await printed(['add', '--priority', 'p4', '--', '--help', 'is', 'wrong'], { cwd });
    expect(text).toMatch(/^Added \[ \] cp-\w+ READY \(\ds\) --help is wrong {2}p4\n/);
  });

  test('succeeds twenty times at once on a repository that has no board yet', async () => {
    const fresh = newRepository(area);
    const titles = Array.from({ length: 20 }, (_, index) => `Task ${index}`);
    const added = await newTasks(titles, { cwd: fresh });
    const { tasks } = await answer<{ tasks: TaskDocument[] }>(['list'], { cwd: fresh });
    expect(new Set(tasks.map(({ id }) => id))).toEqual(new Set(added.map(({ id }) => id)));
    expect(tasks.map(({ title }) => title).toSorted()).toEqual(titles.toSorted());
    const events = await printed(['events', '--json'], { cwd: fresh });
    expect(
      events
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { number: number }).number),
    ).toEqual(titles.map((_, index) => index + 1));
  });
});

describe('ids', () => {
  test('may be shortened to any unique beginning, without cp-, in upper case', async () => {
    const fresh = newRepository(area);
    const [task] = await newTasks(['Only one'], { cwd: fresh });
    const characters = task.id.slice(3) ?? '';
    const spellings = [
      characters,
      characters[0],
      `cp-${characters[0]}`,
      task.id.toUpperCase(),
      characters.toUpperCase(),
    ];
    for (const spelling of spellings) {
      expect(await answer(['show', spelling ?? ''], { cwd: fresh })).toMatchObject({ id: task.id });
    }
  });

  test('that fit several tasks name them, and a whole id wins over a longer one', async () => {
    const source = newRepository(area);
    const tasks = await newTasks(['One', 'Two', 'Three'], { cwd: source });
    const wanted = ['cp-aaaa', 'cp-aaab', 'cp-aaaab'];
    const lines = tasks.reduce(
      (text, { id }, index) => text.replaceAll(id, wanted[index] ?? ''),
      await printed(['export'], { cwd: source }),
    );
    const fresh = newRepository(area);
    await answer(['import', '-'], { cwd: fresh, stdin: lines });
    const { code, stdout, stderr } = await copse(['show', 'AAA'], { cwd: fresh });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'copse: "AAA" matches more than one task: cp-aaaa, cp-aaaab, cp-aaab.\n    Give one more character of the id.\n',
    );
    expect(await answer(['show', 'aaaa'], { cwd: fresh })).toMatchObject({ title: 'One' });
    expect(await answer(['show', 'aaaab'], { cwd: fresh })).toMatchObject({ title: 'Three' });
  });

  test('of a task cannot be empty', async () => {
    const { code, stderr } = await copse(['show', ''], { cwd });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'copse: The id of the task is empty.\n  → copse list\n',
    });
  });

  test.each(['cp-', '%', '_', '*', 'cp-zzzzzz'])('%j fits no task', async (text) => {
    const { code, stdout, stderr } = await copse(['show', text], { cwd });
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: '',
      stderr: `copse: The board has no task ${JSON.stringify(text)}.\n  → copse list\n`,
    });
  });
});

describe('copse list', () => {
  test('says how to begin on an empty board, and that nothing fits a filter', async () => {
    const fresh = newRepository(area);
    expect(await printed(['list'], { cwd: fresh })).toBe('The board is empty. Add a task: copse add "…"\n');
    expect(await printed(['ls', '--status', 'stuck'], { cwd: fresh })).toBe('No task matches.\n');
    expect(await answer(['list'], { cwd: fresh })).toMatchObject({ tasks: [] });
  });

  test('shows the most urgent first, waiting tasks after ready ones, and filters', async () => {
    const fresh = newRepository(area);
    const at = { cwd: fresh };
    const plan = await answer<{ id: string }>(['plan', 'add', 'Plan'], at);
    const low = await answer<TaskDocument>(['add', 'Low', '--priority', 'p1'], at);
    const high = await answer<TaskDocument>(['add', 'High', '--priority', 'p5', '--agent', 'coder'], at);
    const waits = ['add', 'Waits', '--priority', 'p5', '--depends', low.id, '--plan', plan.id];
    const waiting = await answer<TaskDocument>(waits, at);
    const listed = async (...filter: string[]) => {
      const { tasks } = await answer<{ tasks: TaskDocument[] }>(['list', ...filter], at);
      return tasks.map(({ title }) => title);
    };
    expect(await listed()).toEqual(['High', 'Low', 'Waits']);
    expect(await listed('--status', 'PENDING')).toEqual(['Waits']);
    expect(await listed('--status', 'ready,pending')).toEqual(['High', 'Low', 'Waits']);
    expect(await listed('--plan', plan.id.slice(0, 4))).toEqual(['Waits']);
    expect(await listed('--agent', 'coder')).toEqual(['High']);
    const text = await printed(['list'], at);
    expect(text.replaceAll(/\(\d+s\)/g, '(0s)')).toBe(
      [
        'Active (3)',
        `[ ] ${high.id} READY (0s) High  p5`,
        `[ ] ${low.id} READY (0s) Low  p1`,
        `[.] ${waiting.id} PENDING (0s) Waits  p5 · waits for ${low.id}`,
        '',
      ].join('\n'),
    );
  });
});

describe('copse edit', () => {
  test('changes what is named and nothing else', async () => {
    const [one, other] = await newTasks(['Edit me', 'Another'], { cwd });
    const before = await answer<TaskDocument>(['show', one.id], { cwd });
    const changes = ['--title', 'Edited ✓', '--priority', 'p2', '--area', 'src/**', '--accept', 'true'];
    const after = await answer<object>(['edit', before.id, ...changes, '--depends', other.id], {
      cwd,
    });
    // `show` says more about a task than `edit`.
    const said = Object.entries(before).filter(([key]) => key in after);
    expect(after).toEqual({
      ...Object.fromEntries(said),
      title: 'Edited ✓',
      priority: 'p2',
      areas: ['src/**'],
      accept: ['true'],
      dependsOn: [other.id],
      status: 'pending',
      since: expect.any(String) as string,
      updatedAt: expect.any(String) as string,
    });
    const undone = ['edit', before.id, '--no-area', '--no-accept', '--not-depends', other.id];
    expect(await answer(undone, { cwd })).toMatchObject({
      title: 'Edited ✓',
      areas: [],
      accept: [],
      dependsOn: [],
      status: 'ready',
    });
  });

  test('clears plan, agent and capabilities', async () => {
    const plan = await answer<{ id: string }>(['plan', 'add', 'P'], { cwd });
    const given = ['add', 'Bound', '--plan', plan.id, '--agent', 'coder', '--requires', 'sql'];
    const { id } = await answer<TaskDocument>(given, { cwd });
    const freed = await answer(['edit', id, '--no-plan', '--no-agent', '--no-requires'], { cwd });
    expect(freed).toMatchObject({ plan: null, agent: null, requires: [] });
  });

  test('refuses a cycle, names it and leaves everything as it was', async () => {
    const [one, two] = await newTasks(['Hen', 'Egg'], { cwd });
    await answer(['edit', two.id, '--depends', one.id], { cwd });
    const argv = ['edit', one.id, '--title', 'Changed', '--depends', two.id];
    const { code, stdout, stderr } = await copse(argv, { cwd });
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(one.id);
    expect(stderr).toContain(two.id);
    expect(await answer(['show', one.id], { cwd })).toMatchObject({ title: 'Hen', dependsOn: [] });
  });

  test('with the same values says that nothing would change', async () => {
    const [task] = await newTasks(['Same'], { cwd });
    const { code, stderr } = await copse(['edit', task.id, '--title', 'Same'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(`${task.id} already has these values.`);
    const none = await copse(['edit', task.id], { cwd });
    expect(none.stderr).toContain(`Nothing to change in ${task.id}: give an option.`);
  });
});

describe('copse delete', () => {
  test('deletes several at once; their events stay; a second time they are not found', async () => {
    const tasks = await newTasks(['Gone 1', 'Gone 2'], { cwd });
    const ids = tasks.map(({ id }) => id);
    const { deleted } = await answer<{ deleted: TaskDocument[] }>(['delete', '--yes', ...ids], { cwd });
    expect(deleted.map(({ id }) => id)).toEqual(ids);
    expect((await copse(['show', ids[0] ?? ''], { cwd })).code).toBe(3);
    expect((await copse(['rm', '--yes', ids[0] ?? ''], { cwd })).code).toBe(3);
    const events = await printed(['events'], { cwd });
    for (const { id, title } of tasks) expect(events).toContain(`${id} ${title}: deleted`);
  });

  test('refuses a task with dependants until it is unlinked', async () => {
    const [needed] = await newTasks(['Needed'], { cwd });
    const waiting = await answer<TaskDocument>(['add', 'Waiting', '--depends', needed.id], { cwd });
    const { code, stdout, stderr } = await copse(['delete', needed.id, '--yes'], { cwd });
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(waiting.id);
    expect(stderr).toContain('--unlink');
    await answer(['delete', needed.id, '--unlink', '--yes'], { cwd });
    expect(await answer(['show', waiting.id], { cwd })).toMatchObject({ dependsOn: [], status: 'ready' });
  });

  test('is all or nothing: one refused task keeps the others', async () => {
    const [needed, free] = await newTasks(['Kept', 'Kept too'], { cwd });
    await answer(['add', 'Waits', '--depends', needed.id], { cwd });
    expect((await copse(['delete', free.id, needed.id, '--yes'], { cwd })).code).toBe(4);
    expect((await copse(['show', free.id], { cwd })).code).toBe(0);
  });
});

describe('copse show', () => {
  test('reads like a page', async () => {
    const at = { cwd: newRepository(area) };
    const [first] = await newTasks(['First'], at);
    const argv = ['add', 'Second', '--depends', first.id, '--body', 'Why\nand how', '--accept', 'npm test'];
    const { id } = await answer<TaskDocument>(argv, at);
    await answer(['ledger', 'add', 'decision', 'Use', 'cookies', '--task', id], at);
    expect((await printed(['show', id], at)).replaceAll(/(?<=[( ])\d+s(?=[) ])/g, '0s')).toBe(
      [
        `[.] ${id} PENDING (0s) Second  waits for ${first.id}`,
        '    priority    p3',
        `    depends on  ${first.id} (ready)`,
        '    accept      npm test',
        '    added       0s ago',
        '',
        '    Why',
        '    and how',
        '',
        'Ledger',
        '    decision (0s) Use cookies',
        '',
      ].join('\n'),
    );
    expect(await printed(['show', first.id], at)).toContain(`needed by   ${id}`);
  });

  test('lists the artifacts of a task, with the usual times', async () => {
    const at = { cwd: newRepository(area) };
    const [task] = await newTasks(['With a result'], at);
    const file = path.join(at.cwd, '.copse', 'board.db');
    const board = await openBoard({ engine: 'sqlite', file }, defaultPolicy, { id: 'unused', at: 0 });
    const artifact = {
      type: 'artifact.added',
      id: brand<ArtifactId>('ar-1'),
      at: timestamp(Date.UTC(2026, 0, 2)),
      task: brand<TaskId>(task.id),
      kind: 'uri',
      address: 'https://example.invalid/x',
      title: null,
    } as const;
    await board.transact((transaction) => transaction.record(person, [artifact]));
    await board.close();
    expect(await printed(['show', task.id], at)).toContain('Artifacts\n    uri https://example.invalid/x\n');
    expect(await answer(['show', task.id], at)).toMatchObject({
      artifacts: [{ kind: 'uri', address: 'https://example.invalid/x', at: '2026-01-02T00:00:00.000Z' }],
    });
  });
});
