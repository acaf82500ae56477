/** `copse list`, as people see it at 80 columns, and as programs read it. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { ENTER_SCREEN, LEAVE_SCREEN } from '../../../packages/copse/src/cli/watch/sequences.ts';
import { answer, copse, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { oneOfEach, tell } from '../../support/records/stories.ts';
import { CONTROL_C, hasScript, onTerminal } from '../../support/terminal.ts';

const area = newArea();
let cwd: string;

beforeAll(async () => {
  cwd = newRepository(area);
  await printed(['list'], { cwd });
  await tell(cwd, oneOfEach);
});

const narrow = { columns: 80, rows: 24 };

describe('copse list', () => {
  test('has one line for each task and one for its reason, cut to the width at words', async () => {
    const text = await printed(['list'], { cwd, terminal: narrow });
    expect(`\n${text}`).toBe(`
Active (9)
[*] cp-aaaa IN_PROGRESS (15m) Add a log-in page  claude · working
[*] cp-cccc IN_PROGRESS (16m) Serve the pages  claude · working
      waits for you: Which port? …
[*] cp-bbbb IN_PROGRESS (14m) Clean the build folders  codex · working
      asks to use Bash (waiting 4m): rm -rf build …
[!] cp-dddd STUCK (2h) Move all callers to the new table  claude
      Should the old table be deleted, or kept beside the new one until every…
[!] cp-ffff NEEDS_ATTENTION (30m) Rename the loader of the…  p5 · claude
      It conflicts with main in src/a.ts
[!] cp-gggg FAILED (1h) Write the changelog  claude
      Failed after 3 attempts; last error: exit code 1
[?] cp-eeee IN_REVIEW (3m) Refuse tokens without an owner  claude
      Refuse empty tokens …
[ ] cp-hhhh READY (2m) Translate
[.] cp-jjjj PENDING (1m) Publish  waits for cp-hhhh, cp-gggg

Finished (2)
[x] cp-mmmm CANCELLED (1d) Support old browsers
      Not needed
[✓] cp-kkkk DONE (2d) Choose a licence  1f2e3d4c5b
The whole reason: copse why cp-cccc
`);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('cuts no line for programs, and still has one for a reason', async () => {
    const text = await printed(['list'], { cwd });
    expect(text).toContain('all places where it is named  p5 · claude\n');
    expect(text).toContain('until every caller has moved to it? …\n');
    expect(text).not.toContain('<<<<<<<');
    expect(text.split('\n')).toHaveLength(22);
  });

  test('fits 50 columns too', async () => {
    const text = await printed(['list'], { cwd, terminal: { columns: 50, rows: 24 } });
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(50);
    expect(text).toContain('[!] cp-ffff NEEDS_ATTENTION (30m) Rename the…\n');
  });

  test('says in JSON who asks, in which phase and for what', async () => {
    const { tasks } = await answer<{ tasks: Record<string, unknown>[] }>(['list'], { cwd });
    const known = (id: string) => tasks.find((task) => task['id'] === id);
    expect(known('cp-bbbb')).toMatchObject({
      askedBy: 'codex',
      phase: 'working',
      attention: 'permission',
      question: { tool: 'Bash' },
    });
    expect(known('cp-cccc')).toMatchObject({ askedBy: 'claude', message: 'Which port?\nOr any?' });
    expect(known('cp-dddd')).toMatchObject({ askedBy: 'claude', phase: null });
    expect(known('cp-aaaa')).toMatchObject({ askedBy: null, phase: 'working' });
    expect(known('cp-hhhh')).toMatchObject({ askedBy: null, phase: null, question: null });
  });

  test.each([
    ['age', ['dddd', 'gggg', 'ffff', 'cccc']],
    ['priority', ['ffff', 'dddd', 'gggg', 'aaaa']],
    ['title', ['aaaa', 'bbbb', 'dddd', 'jjjj']],
    ['updated', ['jjjj', 'hhhh', 'eeee', 'bbbb']],
  ])('--sort %s --limit 4', async (sort, ids) => {
    const { tasks, hasMore } = await answer<{ tasks: { id: string }[]; hasMore: boolean }>(
      ['list', '--sort', sort, '--limit', '4'],
      { cwd },
    );
    expect(tasks.map(({ id }) => id.slice(3))).toEqual(ids);
    expect(hasMore).toBe(true);
  });

  test('--limit says how many there are', async () => {
    expect(await printed(['list', '--status', 'stuck,failed', '--limit', '1'], { cwd })).toMatch(
      /^Active \(1 of 2\)\n.*\n.*\nWithout a limit: copse list\n$/,
    );
    const { tasks } = await answer<{ tasks: { id: string }[] }>(['list', '--limit', '10'], { cwd });
    expect(tasks.slice(-1).map(({ id }) => id)).toEqual(['cp-mmmm']);
  });

  test.each([
    [['--sort', 'size'], '--sort must be one of age, priority, status, title, updated, not "size".'],
    [['--limit', '0'], '--limit must be a number of at least 1, not "0".'],
    [['--limit', '-1'], '--limit must be a number of at least 1, not "-1".'],
    [['--watch'], '--watch needs a terminal.'],
  ])('explains %j', async (options, reason) => {
    const { code, stdout, stderr } = await copse(['list', ...options], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`copse: ${reason}\n`);
  });

  test('prints ids as every command accepts them', async () => {
    const text = await printed(['list'], { cwd });
    for (const [, id = ''] of text.matchAll(/^\[.\] (\S+)/gm)) {
      expect(await answer(['show', id], { cwd })).toMatchObject({ id });
      expect(await answer(['show', id.toUpperCase()], { cwd })).toMatchObject({ id });
    }
  });
});

describe('copse list --watch', () => {
  test.skipIf(!hasScript)('shows a new task at once, and leaves the terminal as it was', async () => {
    const at = { cwd: newRepository(area) };
    await newTasks(['First'], at);
    const screen = await onTerminal(['list', '--watch'], at.cwd, [
      ['First', () => newTasks(['Second'], at).then(() => '')],
      ['Second', CONTROL_C],
    ]);
    expect(screen.split(ENTER_SCREEN)).toHaveLength(2);
    expect(screen.split(LEAVE_SCREEN)).toHaveLength(2);
    expect(screen.indexOf(LEAVE_SCREEN)).toBeGreaterThan(screen.lastIndexOf('Second'));
  });
});

describe('copse show', () => {
  const shownAt80 = (id: string) => printed(['show', id], { cwd, terminal: narrow });

  test('shows phase, agent, process, worktree, branch, question and attempts of a running task', async () => {
    expect(`\n${await shownAt80('bbbb')}`).toBe(`
[*] cp-bbbb IN_PROGRESS (14m) Clean the build folders  codex
    priority    p3
    agent       codex
    process     on machine n-elsewhere
    phase       working
    worktree    /w/cp-bbbb
    branch      copse/cp-bbbb, from main at 1f2e3d4c5b
    added       14m ago

    The agent asks to use Bash (waiting 4m):
    rm -rf build
    rm -rf dist
  → copse answer cp-bbbb allow --question q1
  → copse answer cp-bbbb deny --question q1 --message "…"

Attempts
    1. running for 14 min (codex)
`);
  });

  test('shows result, duration, cost and summary of each attempt, and the landed commit', async () => {
    expect(`\n${await shownAt80('kkkk')}`).toBe(`
[✓] cp-kkkk DONE (2d) Choose a licence  1f2e3d4c5b
    priority    p3
    agent       claude
    worktree    /w/cp-kkkk
    branch      copse/cp-kkkk, from main at 1f2e3d4c5b
    landed      as 1f2e3d4c5b on main, 2d ago
    summary     Done as asked
    used        1.2k tokens, $0.12
    added       2d ago

Attempts
    1. completed after 10 min (claude, 1.2k tokens, $0.12)
       Done as asked
`);
    expect(await answer(['show', 'kkkk'], { cwd })).toMatchObject({
      phase: 'complete',
      process: null,
      workspace: { worktree: '/w/cp-kkkk', branch: 'copse/cp-kkkk', base: 'main', is: 'in_use' },
      attempts: [
        { agent: 'claude', result: 'completed', durationMs: 600_000, exitCode: 0, words: 'Done as asked' },
      ],
      landed: { commit: '1f2e3d4c5b'.repeat(4), target: 'main' },
    });
  });
});

describe('what else is told', () => {
  test('copse events, in sentences with titles', async () => {
    const text = await printed(['events'], { cwd });
    const sentences = text.replaceAll(/^\d+ \S+ \S+ /gm, '').split('\n');
    for (const sentence of [
      'cp-bbbb Clean the build folders: codex started',
      'cp-bbbb Clean the build folders: its agent asks to use Bash: rm -rf build …',
      'cp-ffff Rename the loader of the configuration in all places where it is named: needs you: It conflicts with main in src/a.ts',
      'cp-gggg Write the changelog: failed after 3 attempts; last error: exit code 1',
      'cp-kkkk Choose a licence: landed as 1f2e3d4c5b',
      'cp-mmmm Support old browsers: cancelled: Not needed',
    ])
      expect(sentences).toContain(sentence);
    expect(await printed(['events', '--raw'], { cwd })).toContain(
      ' task.cancelled cp-mmmm Not needed person\n',
    );
  });

  test('copse events, cut to the width, with the title before the clause', async () => {
    const text = await printed(['events', '--task', 'ffff', '--last', '1'], { cwd, terminal: narrow });
    expect(text.replace(/^\d+ \S+ \S+/, '')).toBe(
      ' cp-ffff Rename the…: needs you: It conflicts with main…\n',
    );
  });

  test('copse logs -n, and as JSON', async () => {
    const logs = path.join(cwd, '.copse', 'logs', 'cp-aaaa');
    mkdirSync(logs, { recursive: true });
    writeFileSync(path.join(logs, 'at-aaaa.log'), 'one\ntwo\nthrée\n');
    expect(await printed(['logs', 'aaaa', '-n', '2'], { cwd })).toBe('two\nthrée\n');
    expect(await printed(['logs', 'aaaa', '-n', '0'], { cwd })).toBe('');
    expect(await answer(['logs', 'aaaa', '-n', '2'], { cwd })).toMatchObject({
      task: 'cp-aaaa',
      logs: [{ attempt: 'at-aaaa', isWhole: false, lines: ['two', 'thrée'] }],
    });
    const { code, stderr } = await copse(['logs', 'aaaa', '--json', '--follow'], { cwd });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('copse logs cp-aaaa --follow') as string,
    });
  });

  test('copse plan show: progress and landed commits', async () => {
    const at = { cwd: newRepository(area) };
    await printed(['list'], at);
    const [landed, ready] = [
      oneOfEach.find(({ id }) => id === 'kkkk'),
      oneOfEach.find(({ id }) => id === 'hhhh'),
    ];
    const definition = { plan: 'pl-aaaa' as never };
    const stories = [landed, ready].flatMap((story) => (story ? [{ ...story, definition }] : []));
    await tell(at.cwd, stories, { plan: 'pl-aaaa' });
    expect(`\n${await printed(['plan', 'show', 'pl-aaaa'], { ...at, terminal: narrow })}`).toBe(`
pl-aaaa Log in (1 of 2 done, 1 ready)

    Why

[✓] cp-kkkk DONE (2d) Choose a licence  1f2e3d4c5b
[ ] cp-hhhh READY (2m) Translate
`);
    expect(await answer(['plan', 'show', 'pl-aaaa'], at)).toMatchObject({
      landed: [{ task: 'cp-kkkk', commit: '1f2e3d4c5b'.repeat(4) }],
    });
  });
});
