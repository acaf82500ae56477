/** `copse demo` as somebody runs it who has just cloned Copse: whole, on a machine whose git is configured in odd ways. */

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, test } from 'vitest';

import { shellWord } from '../../../packages/copse/src/kernel/shell.ts';
import {
  type Finished,
  type TaskDocument,
  answer,
  copse,
  git,
  newArea,
  plainEnv,
  printed,
} from '../../support/cli.ts';
import { processesAbout } from '../../support/processes-about.ts';

const area = newArea();
const ESCAPE = '\u001b';
const FAST = ['--speed', '100'];

interface EventDocument {
  readonly type: string;
  readonly id: string;
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** No identity, signing that fails, hooks that refuse, another name for main, and variables that lead elsewhere. */
function oddMachine(): Readonly<Record<string, string>> {
  const home = path.join(area, 'home');
  const temporary = path.join(area, 'tmp');
  const hooks = path.join(home, 'hooks');
  for (const folder of [hooks, temporary]) mkdirSync(folder, { recursive: true });
  for (const hook of ['pre-commit', 'commit-msg', 'post-checkout', 'reference-transaction'])
    writeFileSync(path.join(hooks, hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const config = path.join(home, '.gitconfig');
  writeFileSync(
    config,
    `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n[init]\n\tdefaultBranch = x\n\ttemplateDir = ${home}\n[core]\n\thooksPath = ${hooks}\n\tautocrlf = true\n[user]\n\tuseConfigOnly = true\n`,
  );
  return {
    HOME: home,
    TMPDIR: temporary,
    GIT_CONFIG_GLOBAL: config,
    GIT_DIR: path.join(area, 'nowhere'),
    GIT_AUTHOR_NAME: '',
    COPSE_BOARD: 'postgres://nobody.invalid/none',
    PATH: pathWithoutCopse(),
  };
}

/** `npm ci` in a built clone puts one into `node_modules/.bin`. */
function pathWithoutCopse(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.filter((folder) => !existsSync(path.join(folder, 'copse'))).join(path.delimiter);
}

describe('the whole demo', () => {
  let ended: Finished;
  let folder: string;
  let events: readonly EventDocument[];

  beforeAll(async () => {
    const env = oddMachine();
    ended = await copse(['demo', ...FAST], { cwd: area, env });
    const temporary = env['TMPDIR'] ?? '';
    const made = readdirSync(temporary).filter((name) => name.startsWith('copse-demo-'));
    const [name] = made;
    if (name === undefined || made.length > 1) throw new Error(`${made.length} folders were made`);
    folder = path.join(temporary, name);
    events = await eventsIn(folder);
  }, 120_000);

  test('succeeds, and all seven tasks are done', async () => {
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    const { tasks } = await answer<{ tasks: TaskDocument[] }>(['list', '--all'], { cwd: folder });
    expect(tasks.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 'done'));
    expect(tasks.some(({ dependsOn }) => dependsOn.length > 1)).toBe(true);
  });

  test('prints plain lines into a pipe, and ends with what to look at and what to try', () => {
    const { stdout } = ended;
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).toContain('7 of 7 tasks done');
    expect(stdout).toContain(`cd '${folder}'`);
    const launcher = fileURLToPath(new URL('../../../copse', import.meta.url));
    expect(stdout).toContain(`    ln -s ${shellWord(launcher)} ~/.local/bin/copse\n`);
    expect(stdout).toContain('copse doctor\n  copse add "');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(`To delete the demo: rm -rf '${folder}'`);
    const tip = git(folder, 'rev-parse', '--short=7', 'main');
    expect(stdout).toContain(`* ${tip} docs: release notes of 1.0 (cleo)`);
  });

  test('lands only results that passed the check', async () => {
    expect(ended.stdout).toContain('6 landings');
    const queue = await printed(['queue'], { cwd: folder });
    expect(queue).toMatch(/landed cp-\w+ .*, checked, /);
    expect(queue).not.toContain('without checks');
  });

  test('lands a history that has every change once, with its author and its task', () => {
    const log = git(
      folder,
      'log',
      '--no-merges',
      '--format=%s|%an|%(trailers:key=Task,valueonly,separator=%x2C)',
    );
    const [first, ...landed] = log.split('\n').toReversed();
    expect(first).toBe('feat: a library that says hello|Copse demo|');
    const subjects = landed.map((line) => line.split('|').slice(0, 2).join(' by '));
    expect(subjects.toSorted()).toEqual([
      'docs: release notes of 1.0 by cleo',
      'feat(convert): convert Celsius to Fahrenheit by dan',
      'feat(convert): round to one decimal by dan',
      'feat(greet): greet people by name by ben',
      'feat(greet): greet people politely by cleo',
      'feat(parse): read a temperature from text by ada',
      'feat: export everything from index.js by ben',
    ]);
    for (const line of landed) expect(line.split('|')[2]).toMatch(/^cp-\w+$/);
    expect(git(folder, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    expect(git(folder, 'status', '--porcelain')).toBe('');
  });

  test('retries the task that crashed, with its uncommitted work', async () => {
    const [crashed, ...more] = of('task.crashed');
    expect(more).toEqual([]);
    expect(crashed?.data['reason']).toMatch(/SIGKILL/);
    const task = crashed?.id ?? '';
    expect(of('attempt.started').filter(({ data }) => data['task'] === task)).toHaveLength(2);
    const { rescues } = await answer<{ rescues: { ref: string }[] }>(['rescue', 'list', task], {
      cwd: folder,
    });
    expect(rescues.length).toBeGreaterThan(0);
    expect(await printed(['rescue', 'show', rescues.at(-1)?.ref ?? ''], { cwd: folder })).toContain(
      'src/parse.js',
    );
    // The first attempt wrote how it begins, the second how it ends.
    const parse = readFileSync(path.join(folder, 'src', 'parse.js'), 'utf8');
    expect(parse).toMatch(/^export function parse[^]+Not a temperature[^]+\}\n$/);
    expect(await printed(['logs', task, '--all'], { cwd: folder })).toContain(
      'Continuing with the half that is there.',
    );
  });

  test('hands a conflict back, and the agent resolves it', () => {
    const [handedBack, ...more] = of('task.handed_back');
    expect(more).toEqual([]);
    expect(handedBack?.data['because']).toBe('conflict');
    expect(handedBack?.data['reason']).toContain('src/greet.js');
    expect(readFileSync(path.join(folder, 'src', 'greet.js'), 'utf8')).toContain("'Good day, ' + name");
  });

  test('answers the question of the agent that asked, as a person would', () => {
    expect(of('task.stuck').map(({ data }) => data['reason'])).toEqual([
      'Round to whole degrees, or keep one decimal?',
    ]);
    expect(of('task.restarted').map(({ by }) => by)).toEqual([`person:${plainEnv['USER']}`]);
    expect(readFileSync(path.join(folder, 'src', 'convert.js'), 'utf8')).toContain('* 10) / 10');
  });

  test('counts a task with nothing to do as done', () => {
    const how = of('task.done').map(({ data }) => data['how']);
    expect(how.toSorted()).toEqual([...Array.from({ length: 6 }, () => 'landed'), 'no_changes']);
  });

  test('leaves no process, no worktree and no branch', () => {
    expect(processesAbout(folder)).toEqual([]);
    expect(git(folder, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe('refs/heads/main');
    // The queue keeps the worktree in which it runs checks.
    const worktrees = git(folder, 'worktree', 'list').split('\n');
    expect(worktrees.filter((line) => !line.includes('/copse-queue-'))).toHaveLength(1);
    expect(ended.stdout).toContain('0 leftovers');
  });

  test('has a summary that matches the events', () => {
    for (const line of ['6 landings', '1 crash ', '1 conflict ', '1 question ', '9 attempts'])
      expect(ended.stdout).toContain(`\n  ${line}`);
    expect(of('attempt.started')).toHaveLength(9);
  });

  test('will not use its folder again', async () => {
    const before = git(folder, 'rev-parse', 'main');
    const { code, stderr } = await copse(['demo', '--dir', folder], { cwd: area });
    expect(code).toBe(2);
    expect(stderr).toContain('is not empty');
    expect(git(folder, 'rev-parse', 'main')).toBe(before);
  });

  function of(type: string): readonly EventDocument[] {
    return events.filter((event) => event.type === type);
  }
});

describe('the folder', () => {
  test.each([['a folder that holds something'], ['a file']])('is refused when it is %s', async (kind) => {
    const target = path.join(area, `taken by ${kind}`);
    const kept = kind === 'a file' ? target : path.join(target, 'kept.txt');
    mkdirSync(path.dirname(kept), { recursive: true });
    writeFileSync(kept, 'mine');
    const { code, stdout, stderr } = await copse(['demo', '--dir', target], { cwd: area });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(target);
    expect(readFileSync(kept, 'utf8')).toBe('mine');
    if (kind !== 'a file') expect(readdirSync(target)).toEqual(['kept.txt']);
  });

  test.each(['0', '-1', 'fast', '1000', ''])('is not made when the speed is %j', async (speed) => {
    const { code, stderr } = await copse(['demo', '--dir', 'never', `--speed=${speed}`], { cwd: area });
    expect(code).toBe(2);
    expect(stderr).toContain('--speed');
    expect(existsSync(path.join(area, 'never'))).toBe(false);
  });
});

async function eventsIn(folder: string): Promise<readonly EventDocument[]> {
  const text = await printed(['events', '--json'], { cwd: folder });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as EventDocument);
}
