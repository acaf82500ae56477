/**
 * Hostile agents beside honest ones, on one orchestrator: each tries something else (test/support/agents/hostile). The honest
 * tasks land, and each hostile one ends alone, with a reason. `npm run test:faults` has all tricks, eight at a time.
 */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { TaskStatus } from '../../../packages/copse/src/tasks/rules/task.ts';
import { type Fleet, addTasks, gitIn, newFleet } from '../../support/agents/hostile/fleet.ts';
import { tricks } from '../../support/agents/hostile/tricks.ts';
import { Run, canSeeProcesses } from '../../support/agents/runs.ts';
import type { Shown } from '../../support/agents/scripted-agents.ts';
import { copse, newArea } from '../../support/cli.ts';
import { isLong } from '../../support/long.ts';

const area = newArea();
const size = { atOnce: isLong ? 8 : 4, seconds: 1 };
const honest = Array.from({ length: isLong ? 6 : 2 }, (_, at) => `honest ${at}`);
const chosen = Object.entries(tricks).filter(([, { isShort }]) => isLong || isShort);

/** Above what it has with all caches full, and far below what any of the bombs would take. */
const MOST_MEGABYTES = 250;

let fleet: Fleet;
let run: Run;
let ids: ReadonlyMap<string, string>;
let tasks: ReadonlyMap<string, Shown>;
let before: string;
let exitCode: unknown;
let peakMegabytes = 0;

beforeAll(async () => {
  fleet = newFleet(path.join(area, 'fleet'), size);
  ids = await addTasks(fleet, [
    ...honest.map((title) => ({ title, agent: 'honest' as const })),
    ...chosen.map(([title, { agent = 'hostile' as const }]) => ({ title, agent })),
  ]);
  before = ofThePerson();
  run = await Run.around(fleet.folder, path.join(area, 'said.log'), { GITHUB_TOKEN: 'token-of-the-person' });
  const loop = run.orchestrate('--until-idle');
  const ended = Promise.all([loop.ended, cancelWhileItLands()]);
  while (loop.isRunning) {
    peakMegabytes = Math.max(peakMegabytes, megabytesOf(loop.pid));
    await sleep(200);
  }
  [exitCode] = await ended;
  const { stdout } = await copse(['list', '--all', '--json'], { cwd: fleet.folder });
  const { tasks: all } = JSON.parse(stdout) as { tasks: readonly Shown[] };
  tasks = new Map(all.map((task) => [task.title, task]));
}, 600_000);
afterAll(() => run[Symbol.asyncDispose]());

// promise: unreadable-work-stops-no-other, failed-landing-stops-no-other
test('the honest tasks land', () => {
  const ends = honest.map((title) => [title, tasks.get(title)?.status]);
  const printed = run.orchestrators.map((one) => one.printed).join('\n');
  expect({ ends, printed }).toEqual({ ends: honest.map((title) => [title, 'done']), printed });
  const files = gitIn(fleet.folder, 'ls-tree', '-r', '--name-only', 'main').split('\n');
  for (const title of honest)
    expect(files).toEqual(
      expect.arrayContaining(['one', 'two'].map((name) => `work/${ids.get(title)}/${name}.txt`)),
    );
});

test.each(chosen)('%s ends alone, and a person is told why', async (title, { ends, says = /./ }) => {
  const { id = '', status, reason } = tasks.get(title) ?? {};
  expect(ends, `${status}: ${reason}`).toContain(status);
  const { code, stdout, stderr } = await copse(['why', id], { cwd: fleet.folder });
  expect({ code, stderr: withoutNotice(stderr) }).toEqual({ code: 0, stderr: '' });
  if (status !== 'done' && status !== 'cancelled') expect(reason).toMatch(says);
  expect(stdout).not.toMatch(/should not have happened|^\s+at .*:\d+:\d+/m);
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
});

describe('afterwards', () => {
  test('main has what tasks landed and nothing else, one commit after another', () => {
    const { folder } = fleet;
    expect(gitIn(folder, 'rev-list', '--min-parents=2', 'main')).toBe('');
    const landed = gitIn(folder, 'log', '--format=%s|%(trailers:key=Task,valueonly,separator=%x2c)', 'main');
    const done = new Set([...tasks.values()].filter(({ status }) => status === 'done').map(({ id }) => id));
    // The first is the person's own; and an agent without a sandbox can move main, which is told.
    const others = landed.split('\n').filter((line) => !done.has(line.split('|').at(-1) ?? ''));
    expect(others.filter((line) => line !== 'feat: moves-main|')).toEqual(['chore: set up|']);
    const names = gitIn(folder, 'ls-tree', '-r', '--name-only', 'main').split('\n');
    expect(
      names.filter((name) =>
        /^(?:\.copse|\.worktrees|evil\.txt|git~1|readme|zz|huge\.bin)(?:\/|$)/i.test(name),
      ),
    ).toEqual([]);
  });

  // promise: checkout-untouched
  test('what is the person’s own is as it was', () => {
    expect(ofThePerson()).toBe(before);
    const moved = ids.get('moves main');
    const changed = gitIn(fleet.folder, 'status', '--porcelain').split('\n').filter(Boolean);
    expect(changed.filter((line) => moved === undefined || !line.includes(moved))).toEqual([]);
  });

  // promise: planted-config-inert, power-accepted
  test('Copse ran nothing that was planted or landed', () => {
    const file = path.join(fleet.notes, 'fired');
    const agents = new Set(ids.values());
    // The git of agents runs the hooks that another agent planted.
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
    expect(lines.filter((line) => !agents.has(line.split(' ')[0] ?? ''))).toEqual([]);
    // Neither exported, nor written through a link.
    const files = readdirSync(fleet.notes, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /^(?:exported|victim|elsewhere.)/.test(name))).toEqual([]);
    const environment = path.join(fleet.notes, 'environment');
    if (existsSync(environment))
      expect(readFileSync(environment, 'utf8')).not.toContain('token-of-the-person');
  });

  // promise: no-process-left
  test.runIf(canSeeProcesses)('no process of an attempt is left', () => {
    expect(run.agents()).toEqual([]);
    const isLeft = (pid: string) => readOrNothing(`/proc/${pid}/cmdline`).includes('864213');
    expect(readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isLeft(name))).toEqual([]);
  });

  test('every command answers, and the orchestrator stayed small', async () => {
    // Tasks need a person.
    expect(exitCode).toBe(5);
    for (const argv of [['list'], ['status'], ['queue'], ['worktrees'], ['radar'], ['agents'], ['doctor']]) {
      const { code, stdout, stderr } = await copse(argv, { cwd: fleet.folder });
      // A doctor names the settings that an agent landed.
      const allowed = argv[0] === 'doctor' ? [0, 1] : [0];
      expect({ argv, stderr, isAnswered: allowed.includes(code ?? -1) }).toEqual({
        argv,
        stderr,
        isAnswered: true,
      });
      expect(stdout).not.toMatch(/should not have happened|^\s+at .*:\d+:\d+/m);
    }
    expect(peakMegabytes).toBeLessThan(MOST_MEGABYTES);
  });
});

/** Whatever came first, it is not both: see the test about main. */
async function cancelWhileItLands(): Promise<void> {
  const id = ids.get('cancelled while it lands');
  if (id === undefined) return;
  const waiting = new Set<TaskStatus | undefined>(['pending', 'ready', 'in_progress']);
  const status = async () => (await run.context.board.get('task', brand<TaskId>(id)))?.state.status;
  while (waiting.has(await status())) await sleep(5);
  await copse(['cancel', id], { cwd: fleet.folder });
}

/** HEAD, branches, stash, settings, hook and file; not what agents planted beside. */
function ofThePerson(): string {
  const { folder } = fleet;
  const settings = gitIn(folder, 'config', '--local', '--list').split('\n');
  return [
    gitIn(folder, 'symbolic-ref', 'HEAD'),
    gitIn(folder, 'rev-parse', 'persons', 'stash@{0}'),
    gitIn(folder, 'stash', 'list'),
    ...settings.filter((line) => !line.includes(fleet.notes)),
    readFileSync(path.join(folder, '.git', 'hooks', 'prepare-commit-msg'), 'utf8'),
    readFileSync(path.join(folder, 'mine.txt'), 'utf8'),
  ].join('\n');
}

/** That the files of an agent which landed wait for a person. */
function withoutNotice(stderr: string): string {
  return stderr.replace(
    /^(copse\.yml.*\n)?.*Copse still uses the accepted version.*\n {2}→ copse config accept\n/gm,
    '',
  );
}

function megabytesOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readOrNothing(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
