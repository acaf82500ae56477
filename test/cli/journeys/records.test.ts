/** Plans, the ledger, events, export and import on the command line. */

import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, inject, test } from 'vitest';

import {
  type TaskDocument,
  answer,
  copse,
  finished,
  newArea,
  newRepository,
  newTasks,
  printed,
  startCopse,
} from '../../support/cli.ts';

const area = newArea();

interface EventDocument {
  readonly number: number;
  readonly at: string;
  readonly type: string;
  readonly id: string;
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe('copse plan', () => {
  test('add, show and list print the plan, its tasks and their progress, also as prd', async () => {
    const at = { cwd: newRepository(area) };
    expect(await printed(['plan', 'list'], at)).toContain('No plans.');
    writeFileSync(path.join(at.cwd, 'login.md'), '# Login\nBecause of ☂\n');
    const plan = await answer<{ id: string }>(
      ['plan', 'add', 'Login', 'page', '--body-file', 'login.md'],
      at,
    );
    expect(plan).toMatchObject({ title: 'Login page', body: '# Login\nBecause of ☂\n', tasks: [] });
    expect(plan.id).toMatch(/^pl-\w{4,}$/);
    const task = await answer<TaskDocument>(['add', 'Form', '--plan', plan.id.toUpperCase()], at);
    const shown = await answer<object>(['prd', 'show', plan.id.slice(3)], at);
    expect(shown).toMatchObject({
      ...plan,
      progress: { total: 1, byStatus: { ready: 1 } },
      tasks: [{ id: task.id }],
    });
    expect(await answer(['prd', 'list'], at)).toEqual({ plans: [shown] });
    expect(await printed(['plan', 'list'], at)).toBe(`${plan.id} Login page (0 of 1 done)\n`);
    expect(await printed(['plan', 'show', plan.id], at)).toMatch(
      /^pl-\w+ Login page \(0 of 1 done, 1 ready\)\n\n {4}# Login\n {4}Because of ☂\n\s+\[ \] cp-\w+ READY \(\ds\) Form\n$/,
    );
  });
});

describe('copse ledger', () => {
  test('adds entries of every kind to a task and lists them, oldest first', async () => {
    const at = { cwd: newRepository(area) };
    const [task] = await newTasks(['Learn'], at);
    expect(await printed(['ledger', 'list', '--task', task.id], at)).toBe(
      `The ledger of ${task.id} is empty.\n`,
    );
    const first = await answer(['ledger', 'add', 'learning', 'Run', 'migrations', '--task', task.id], at);
    expect(first).toMatchObject({ task: task.id, kind: 'learning', text: 'Run migrations', session: null });
    // Agents have the id of their task in their environment.
    const asAgent = { ...at, env: { COPSE_TASK_ID: task.id } };
    await answer(['ledger', 'add', 'handoff', '-'], { ...asAgent, stdin: 'Two\nlines' });
    for (const kind of ['decision', 'crash']) await answer(['ledger', 'add', kind, kind], asAgent);
    const { entries } = await answer<{ entries: { kind: string; text: string; at: string }[] }>(
      ['ledger', 'list'],
      asAgent,
    );
    expect(entries.map(({ kind, text }) => [kind, text])).toEqual([
      ['learning', 'Run migrations'],
      ['handoff', 'Two\nlines'],
      ['decision', 'decision'],
      ['crash', 'crash'],
    ]);
    for (const entry of entries) expect(new Date(entry.at).toISOString()).toBe(entry.at);
    expect((await printed(['ledger', 'list'], asAgent)).replaceAll(/\d+s/g, '0s')).toBe(
      'learning (0s) Run migrations\nhandoff (0s) Two\n    lines\ndecision (0s) decision\ncrash (0s) crash\n',
    );
  });
});

describe('copse events', () => {
  test('prints one document per line and can be narrowed by number, count and task', async () => {
    const at = { cwd: newRepository(area) };
    const [one] = await newTasks(['One'], at);
    const [two] = await newTasks(['Two ☂'], at);
    await answer(['edit', one.id, '--priority', 'p5'], at);
    const all = await eventsOf([], at.cwd);
    expect(all.map(({ number, type, id }) => [number, type, id])).toEqual([
      [1, 'task.created', one.id],
      [2, 'task.created', two.id],
      [3, 'task.edited', one.id],
    ]);
    for (const event of all) {
      expect(Object.keys(event)).toEqual(['cursor', 'number', 'at', 'type', 'id', 'by', 'data']);
      expect(event.by).toBe('person:ada');
      expect(new Date(event.at).toISOString()).toBe(event.at);
    }
    expect(await eventsOf(['--after', '1'], at.cwd)).toEqual(all.slice(1));
    expect(await eventsOf(['--after', '3'], at.cwd)).toEqual([]);
    // As every stream tells it: the board was replaced by one with fewer events.
    expect(await eventsOf(['--after', '99'], at.cwd)).toEqual([{ lost: { term: 1, from: 4, to: 99 } }]);
    expect(await eventsOf(['--last', '2'], at.cwd)).toEqual(all.slice(-2));
    expect(await eventsOf(['--last', '0'], at.cwd)).toEqual([]);
    expect(await eventsOf(['--last', '99'], at.cwd)).toEqual(all);
    expect(await eventsOf(['--task', one.id], at.cwd)).toEqual([all[0], all[2]]);
    expect(await eventsOf(['--task', one.id, '--last', '1'], at.cwd)).toEqual([all[2]]);
    expect(await printed(['events', '--last', '2'], at)).toMatch(
      /^2 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d cp-\w+ Two ☂: added, ready to start \(ada\)\n3 .* cp-\w+ .*: changed: \w+ \(ada\)\n$/,
    );
    expect(await printed(['events', '--last', '2', '--raw'], at)).toMatch(
      /^2 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d task\.created cp-\w+ Two ☂ person:ada\n3 .* task\.edited cp-\w+ person:ada\n$/,
    );
  });

  test('with --after and --last gives the last of those after', async () => {
    const at = { cwd: newRepository(area) };
    await newTasks(['One', 'Two', 'Three'], at);
    const numbers = (events: readonly EventDocument[]) => events.map(({ number }) => number);
    expect(numbers(await eventsOf(['--after', '1', '--last', '1'], at.cwd))).toEqual([3]);
    expect(numbers(await eventsOf(['--after', '2', '--last', '9'], at.cwd))).toEqual([3]);
  });

  test.each(['sqlite', 'postgres'] as const)(
    'follows events of another process on %s, and ends on Ctrl+C with success',
    async (engine) => {
      const env = engine === 'postgres' ? { COPSE_BOARD: postgresAddress() } : {};
      const at = { cwd: newRepository(area), env };
      await newTasks(['Before'], at);
      const follower = startCopse(['events', '--follow', '--json'], at);
      const lines = linesOf(follower);
      const end = finished(follower);
      await until(() => lines.length === 1);
      const [during] = await newTasks(['During 😀'], at);
      await until(() => lines.length === 2);
      follower.kill('SIGINT');
      expect(await end).toMatchObject({ code: 0, stderr: '' });
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { number: 1, type: 'task.created' },
        { number: 2, type: 'task.created', id: during.id, data: { definition: { title: 'During 😀' } } },
      ]);
    },
  );

  test('follows only what is asked for', async () => {
    const at = { cwd: newRepository(area) };
    const [one, two] = await newTasks(['One', 'Two'], at);
    const follower = startCopse(['events', '-f', '--json', '--task', two.id, '--after', '2'], at);
    const lines = linesOf(follower);
    const end = finished(follower);
    // The one that must not come is made first: when the other arrives, it has been passed over.
    await answer(['edit', one.id, '--priority', 'p1'], at);
    await answer(['edit', two.id, '--priority', 'p1'], at);
    await until(() => lines.length > 0);
    follower.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0, stderr: '' });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { type: 'task.edited', id: two.id },
    ]);
  });
});

describe('copse export and import', () => {
  // promise: board-private
  test('move a board from SQLite to PostgreSQL and back, with everything on it', async () => {
    const cwd = newRepository(area);
    const plan = await answer<{ id: string }>(['plan', 'add', 'Move'], { cwd });
    const { id } = await answer<TaskDocument>(
      ['add', 'Größe 😀', '--plan', plan.id, '--body', 'Tab\t, quote " and \u001b[31m'],
      { cwd },
    );
    await answer(['add', 'Next', '--depends', id], { cwd });
    await answer(['ledger', 'add', 'learning', 'x', '--task', id], { cwd });
    const file = path.join(area, 'möved.jsonl');
    const exported = await copse(['export', file], { cwd });
    expect(exported).toMatchObject({ code: 0, stdout: '' });
    expect(statSync(file).mode & 0o077).toBe(0);
    const lines = readFileSync(file, 'utf8');
    expect(await printed(['export'], { cwd })).toBe(lines);

    const onPostgres = { cwd, env: { COPSE_BOARD: postgresAddress() } };
    expect(await answer(['import', file], onPostgres)).toEqual({ records: 4, events: 4 });
    expect(await answer(['show', id], onPostgres)).toEqual(await answer(['show', id], { cwd }));
    expect(await answer(['list'], onPostgres)).toEqual(await answer(['list'], { cwd }));
    const back = await printed(['export', '-'], onPostgres);
    expect(withoutHeader(back)).toEqual(withoutHeader(lines));

    const other = newRepository(area);
    const text = await copse(['import', '-'], { cwd: other, stdin: back });
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain('Imported 4 records and 4 events into');
    expect(withoutHeader(await printed(['export'], { cwd: other }))).toEqual(withoutHeader(lines));
  });

  test('keep line and paragraph separators, which JSON does not escape', async () => {
    const source = { cwd: newRepository(area) };
    const body = 'a\u2028b\u2029c\u0085d\re\vf';
    const { id } = await answer<TaskDocument>(['add', 'Separators', '--body', body], source);
    const target = { cwd: newRepository(area) };
    await answer(['import', '-'], { ...target, stdin: await printed(['export'], source) });
    expect(await answer(['show', id], target)).toMatchObject({ body });
  });

  test('refuse to overwrite a file, unless forced, and to import into a board that is in use', async () => {
    const at = { cwd: newRepository(area) };
    await newTasks(['Here'], at);
    const file = path.join(at.cwd, '.git', 'export.jsonl');
    writeFileSync(file, 'precious');
    const refused = await copse(['export', file], at);
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    expect(refused.stderr).toContain(`  → copse export '${file}' --force\n`);
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(await copse(['export', file, '--force'], at)).toMatchObject({ code: 0 });
    const again = await copse(['import', file], at);
    expect(again).toMatchObject({ stdout: '' });
    expect([1, 4]).toContain(again.code);
    expect((await answer<{ tasks: unknown[] }>(['list'], at)).tasks).toHaveLength(1);
  });

  // promise: import-verified
  test('take nothing from a file that is cut off or from elsewhere, and say which line', async () => {
    const source = { cwd: newRepository(area) };
    await newTasks(['One', 'Two'], source);
    const lines = (await printed(['export'], source)).trimEnd().split('\n');
    const target = { cwd: newRepository(area) };
    const inputs = [lines.slice(0, -1), [...lines.slice(0, 2), '{"line":"re'], ['hello'], ['{}'], []];
    for (const input of inputs) {
      const { code, stdout, stderr } = await copse(['import', '-'], { ...target, stdin: input.join('\n') });
      expect({ input, failed: code === 1 || code === 2, stdout }).toEqual({
        input,
        failed: true,
        stdout: '',
      });
      expect(stderr).toMatch(/^copse: .+\n {2}→ .+\n$/);
    }
    const cut = await copse(['import', '-'], { ...target, stdin: `${lines[0]}\n{"line":"re` });
    expect(cut).toMatchObject({ code: 2 });
    expect(cut.stderr).toContain('Line 2');
    expect(await printed(['list'], target)).toContain('The board is empty');
    await answer(['import', '-'], { ...target, stdin: lines.join('\n') });
  });

  test('are complete or absent: an export that cannot be written leaves no file', async () => {
    const at = { cwd: newRepository(area) };
    const { code, stderr } = await copse(['export', 'no such folder/x.jsonl'], at);
    expect(code).not.toBe(0);
    expect(stderr).toContain('cannot be written');
    expect(existsSync(path.join(at.cwd, 'no such folder'))).toBe(false);
  });
});

async function eventsOf(argv: readonly string[], cwd: string): Promise<EventDocument[]> {
  const text = await printed(['events', '--json', ...argv], { cwd });
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as EventDocument);
}

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  return lines;
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 150_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for: ${String(condition)}`);
    await sleep(10);
  }
}

function postgresAddress(): string {
  return `${inject('postgresUrl')}?schema=cli_${randomBytes(6).toString('hex')}`;
}

/** The first line names the board, and every board has a name of its own. */
function withoutHeader(lines: string): string[] {
  return lines.split('\n').slice(1);
}
