/** `copse status` and `copse` alone: what needs a person, in every place where they can be typed. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { scratchFolder } from '../../support/scratch.ts';
import { answer, copse, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { newScene, untilIdle } from '../../support/agents/scripted-agents.ts';

const area = newArea();

interface Status {
  readonly at: string;
  readonly here: { readonly task: string; readonly status: string; readonly next: readonly string[] } | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly isOrchestrated: boolean;
  readonly needsYou: readonly {
    readonly task: string;
    readonly kind: string;
    readonly since: string;
    readonly reason: string;
    readonly command: string;
    readonly unblocks: number;
  }[];
  readonly working: readonly {
    readonly task: string;
    readonly isByHand: boolean;
    readonly phase: string | null;
    readonly lastLine: string | null;
  }[];
  readonly landing: readonly { readonly task: string; readonly why: string }[];
  readonly ready: readonly { readonly task: string; readonly why: string }[];
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('where there is no board', () => {
  test('outside a repository, copse alone explains itself in ten lines; status fails', async () => {
    const cwd = mkdtempSync(path.join(scratchFolder(), 'copse outside '));
    const text = await printed([], { cwd });
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    for (const command of ['demo', 'init', 'add', 'orchestrate', '--help'])
      expect(text).toContain(`copse ${command}`);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(await copse(['status'], { cwd })).toMatchObject({ code: 3, stdout: '' });
  });

  test('in a repository, both say how to begin, and make nothing', async () => {
    const cwd = newRepository(area);
    for (const argv of [[], ['status']]) {
      const text = await printed(argv, { cwd });
      expect(text).toContain('This repository has no tasks yet. To begin:\n');
      expect(text).toContain('copse add ');
    }
    expect(existsSync(path.join(cwd, '.copse', 'board.db'))).toBe(false);
  });
});

describe('a board', () => {
  test('without a task says so', async () => {
    const at = { cwd: newRepository(area) };
    const [task] = await newTasks(['One'], at);
    await printed(['delete', task.id, '--yes'], at);
    expect(await printed([], at)).toBe('The board is empty. Add a task: copse add "…"\n');
    expect((await answer<Status>(['status'], at)).counts['ready']).toBe(0);
  });

  test('says that no orchestrator runs, that nothing needs the person, and why a ready task waits', async () => {
    const { at } = newScene(area);
    const [task] = await newTasks(['One'], at);
    const text = await printed(['status'], at);
    expect(text).toContain('1 ready\nNothing needs you.\n');
    expect(text).toContain('No orchestrator is running here. Start one: copse orchestrate\n');
    expect(text).toMatch(new RegExp(`${task.id}.*One`));
    expect(await printed([], at)).toBe(text);
  });
});

test('tasks that need a person come in the order of the tasks that they unblock, with commands that work', async () => {
  const scene = newScene(area, { policy: { max_retries: 0, handbacks: { dirty: 0 } } });
  const failed = await scene.add('fails', 'exit 9');
  const dirty = await scene.add('dirty', 'echo x > left.txt');
  const asks = await scene.add('asks', 'copse stuck --reason "Which one?\nThe first or the second?"');
  const [next] = await newTasks(['Next'], scene.at);
  await printed(['edit', next.id, '--depends', asks], scene.at);
  const last = await scene.add('last', 'true', '--depends', next.id);
  await scene.add('other', 'true', '--depends', dirty);
  await untilIdle(scene.at);
  const status = await answer<Status>(['status'], scene.at);
  expect(status.needsYou.map(({ task, unblocks }) => [task, unblocks])).toEqual([
    [asks, 2],
    [dirty, 1],
    [failed, 0],
  ]);
  expect(status.needsYou.map(({ kind }) => kind)).toEqual(['question', 'attention', 'failed']);
  expect(status.counts).toMatchObject({ stuck: 1, needs_attention: 1, failed: 1, pending: 3, ready: 0 });
  expect(status.isOrchestrated).toBe(false);
  expect(status.at).toMatch(ISO);
  for (const { since, reason } of status.needsYou) {
    expect(since).toMatch(ISO);
    expect(reason).not.toContain('\n');
  }
  const text = await printed([], scene.at);
  expect(text).toContain('3 need you · 3 pending\n');
  for (const { task, reason, command } of status.needsYou) {
    expect(text).toContain(`    ${reason}\n    → ${command}\n`);
    expect(command.startsWith(`copse `) && command.includes(task)).toBe(true);
  }
  // A dependant that is over waits for nothing.
  await printed(['cancel', last], scene.at);
  const { needsYou } = await answer<Status>(['status'], scene.at);
  expect(needsYou.find(({ task }) => task === asks)?.unblocks).toBe(1);
});

test('in a worktree, the task of the worktree comes first, then the overview', async () => {
  const at = { cwd: newRepository(area) };
  const [mine, other] = await newTasks(['Mine', 'Other'], at);
  const { worktree } = await answer<{ worktree: string }>(['work', mine.id], at);
  const inside = path.join(worktree, 'a folder');
  mkdirSync(inside);
  for (const cwd of [worktree, inside]) {
    const lines = (await printed([], { cwd })).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^\\[\\*\\] ${mine.id} IN_PROGRESS .* Mine`));
    expect(lines[1]).toContain('You work on it by hand.');
    expect(lines.slice(2, 4)).toEqual(['    After your commit:', `  → copse finish ${mine.id}`]);
    expect(lines[5]).toBe('1 working · 1 ready');
  }
  const status = await answer<Status>(['status'], { cwd: inside });
  expect(status.here).toMatchObject({ task: mine.id, status: 'in_progress' });
  expect(status.working).toMatchObject([{ task: mine.id, isByHand: true, lastLine: null }]);
  expect(status.ready.map(({ task }) => task)).toEqual([other.id]);
  expect((await answer<Status>(['status'], at)).here).toBeNull();
});

test('an agent may ask for the status, and sees its own task and what it printed', async () => {
  const scene = newScene(area);
  const id = await scene.add(
    'asks',
    'printf "\\033[31mone\\033[0m \\033]0;owned\\007line\\n"; copse status --json > "$NOTES"; commit a a.txt',
  );
  await untilIdle(scene.at);
  const { here, working, isOrchestrated } = JSON.parse(readFileSync(scene.notes, 'utf8')) as Status;
  expect(here).toMatchObject({ task: id, status: 'in_progress' });
  expect(working).toMatchObject([{ task: id, isByHand: false, lastLine: 'one line' }]);
  expect(isOrchestrated).toBe(true);
});

test('a finished task whose pull request cannot be opened needs the person, in every view', async () => {
  const scene = newScene(area, { sections: { landing: { policy: 'pr' } } });
  const id = await scene.add('asks for review', 'commit a a.txt');
  const end = await untilIdle(scene.at);
  const { needsYou } = await answer<Status>(['status'], scene.at);
  expect(needsYou).toMatchObject([{ task: id, kind: 'review', command: `copse review ${id}` }]);
  const [reason = ''] = needsYou.map((need) => need.reason);
  expect(reason).toMatch(/^No pull request yet: .+ could not be pushed: /);
  expect(await printed(['status'], scene.at)).toContain(`1 needs you\n`);
  expect(await printed(['inbox'], scene.at)).toContain(reason);
  expect(end).toContain(`    ${reason}\n    → copse review ${id}\n`);
  const doctor = await copse(['doctor'], scene.at);
  expect(doctor.stdout).toMatch(
    new RegExp(`✗ review +${id}: .+ could not be pushed: .+\n  → copse review ${id}`),
  );
});
