import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, onTestFinished, test } from 'vitest';

import { openAsks } from '../../../packages/copse/src/agents/files/asks.ts';
import type { Ask } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { finished, newArea, plainEnv } from '../../support/cli.ts';

const area = newArea();
const asks = openAsks('at-1');
const soon = { timeoutMs: 30_000 };
let worktrees = 0;

function newWorktree(): string {
  worktrees += 1;
  const folder = path.join(area, String(worktrees), `wörk 'tree'\n"${worktrees}"`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function folderOf(worktree: string, channel = 'at-1'): string {
  return path.join(worktree, '.copse', 'asks', channel);
}

function answering(worktree: string, answer: (ask: Ask) => Promise<unknown>, channel = 'at-1') {
  const running = openAsks(channel).answer(worktree, answer);
  onTestFinished(() => running.stop());
  return running;
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await sleep(5);
}

const notice = (input: unknown): Ask => ({ kind: 'notice', input });

describe('a question to the runner', () => {
  test('is answered, and leaves nothing behind', async () => {
    const worktree = newWorktree();
    const heard: Ask[] = [];
    const running = answering(worktree, (ask) => {
      heard.push(ask);
      return Promise.resolve({ said: '林\n"yes"' });
    });
    const ask: Ask = { kind: 'permission', input: { tool: 'Bash', nested: ['ö', null] } };
    expect(await asks.ask(worktree, ask, soon)).toEqual({ said: '林\n"yes"' });
    expect(heard).toEqual([ask]);
    expect(readdirSync(folderOf(worktree))).toEqual([]);
    running.stop();
    expect(existsSync(path.join(worktree, '.copse', 'asks'))).toBe(false);
  });

  test('is answered once, and each of many gets its own answer', async () => {
    const worktree = newWorktree();
    let answers = 0;
    answering(worktree, async ({ input }) => {
      answers += 1;
      await sleep((Number(input) * 7) % 50);
      return { to: input };
    });
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const heard = await Promise.all(numbers.map((number) => asks.ask(worktree, notice(number), soon)));
    expect(heard).toEqual(numbers.map((to) => ({ to })));
    await sleep(600);
    expect(answers).toBe(numbers.length);
  });

  test('gets an empty answer when the runner throws', async () => {
    const worktree = newWorktree();
    answering(worktree, () => Promise.reject(new Error('broken')));
    expect(await asks.ask(worktree, notice(1), soon)).toBeNull();
  });

  test('goes to its own runner when several share a folder', async () => {
    const worktree = newWorktree();
    answering(worktree, () => Promise.resolve('one'));
    const other = answering(worktree, () => Promise.resolve('two'), 'at-2');
    expect(await asks.ask(worktree, notice(1), soon)).toBe('one');
    expect(await openAsks('at-2').ask(worktree, notice(1), soon)).toBe('two');
    other.stop();
    expect(await asks.ask(worktree, notice(1), soon)).toBe('one');
  });

  test('ends without a runner, and after the timeout', async () => {
    const worktree = newWorktree();
    expect(await asks.ask(worktree, notice(1), soon)).toBeUndefined();
    expect(existsSync(path.join(worktree, '.copse'))).toBe(false);
    answering(worktree, () => new Promise(() => {}));
    expect(await asks.ask(worktree, notice(1), { timeoutMs: 100 })).toBeUndefined();
    expect(readdirSync(folderOf(worktree))).toEqual([]);
  });

  test('ends when the runner stops before it answers', async () => {
    const worktree = newWorktree();
    let isAsked = false;
    const running = answering(worktree, () => {
      isAsked = true;
      return new Promise(() => {});
    });
    const asked = asks.ask(worktree, notice(1), soon);
    await until(() => isAsked);
    running.stop();
    expect(await asked).toBeUndefined();
    expect(existsSync(path.join(worktree, '.copse', 'asks'))).toBe(false);
  });

  test('survives an agent that cleans its worktree, before and during the question', async () => {
    const worktree = newWorktree();
    answering(worktree, async ({ input }) => {
      if (input === 'middle') rmSync(path.join(worktree, '.copse'), { recursive: true, force: true });
      await sleep(400);
      return 'there';
    });
    rmSync(path.join(worktree, '.copse'), { recursive: true, force: true });
    expect(await asks.ask(worktree, notice('before'), soon)).toBe('there');
    expect(await asks.ask(worktree, notice('middle'), soon)).toBe('there');
  });
});

describe('an agent', () => {
  // promise: no-link-followed
  test.each(['.copse', '.copse/asks', '.copse/asks/at-1'])(
    'that puts a link in place of %s causes no write outside',
    async (link) => {
      const worktree = newWorktree();
      const outside = newWorktree();
      mkdirSync(path.dirname(path.join(worktree, link)), { recursive: true });
      symlinkSync(outside, path.join(worktree, link));
      answering(worktree, () => Promise.resolve('yes'));
      expect(await asks.ask(worktree, notice(1), { timeoutMs: 600 })).toBeUndefined();
      expect(readdirSync(outside)).toEqual([]);
    },
  );

  // promise: no-link-followed
  test('that replaces the folder by a link later causes no write or deletion outside', async () => {
    const worktree = newWorktree();
    const outside = newWorktree();
    writeFileSync(path.join(outside, 'kept.ask'), '{}');
    const running = answering(worktree, () => Promise.resolve('yes'));
    rmSync(folderOf(worktree), { recursive: true });
    symlinkSync(outside, folderOf(worktree));
    expect(await asks.ask(worktree, notice(1), { timeoutMs: 600 })).toBeUndefined();
    running.stop();
    expect(readdirSync(outside)).toEqual(['kept.ask']);
  });

  test('gets no answer for a link or for a file that is no question', async () => {
    const worktree = newWorktree();
    const secret = path.join(newWorktree(), 'secret');
    writeFileSync(secret, JSON.stringify(notice('secret')));
    const heard: unknown[] = [];
    answering(worktree, ({ input }) => {
      heard.push(input);
      return Promise.resolve('yes');
    });
    const folder = folderOf(worktree);
    symlinkSync(secret, path.join(folder, 'link.ask'));
    writeFileSync(path.join(folder, 'half.ask'), '{"kind":');
    writeFileSync(path.join(folder, 'kind.ask'), JSON.stringify({ kind: 'delete', input: 1 }));
    writeFileSync(path.join(folder, 'large.ask'), JSON.stringify(notice('x'.repeat(2 * 1024 * 1024))));
    mkdirSync(path.join(folder, 'folder.ask'));
    const answers = ['link', 'half', 'kind', 'large', 'folder'].map((id) =>
      path.join(folder, `${id}.answer`),
    );
    while (!answers.every((file) => existsSync(file))) await sleep(10);
    expect(answers.map((file) => readFileSync(file, 'utf8'))).toEqual(answers.map(() => 'null'));
    expect(heard).toEqual([]);
    expect(await asks.ask(worktree, notice('real'), soon)).toBe('yes');
  });

  test('whose answer file is a link gets the answer in place of the link', async () => {
    const worktree = newWorktree();
    const outside = path.join(newWorktree(), 'kept');
    writeFileSync(outside, 'kept');
    answering(worktree, () => Promise.resolve('written'));
    const folder = folderOf(worktree);
    symlinkSync(outside, path.join(folder, 'mine.answer'));
    writeFileSync(path.join(folder, 'mine.ask'), JSON.stringify(notice(1)));
    const answer = path.join(folder, 'mine.answer');
    while (readFileSync(answer, 'utf8') === 'kept') await sleep(10);
    expect(readFileSync(outside, 'utf8')).toBe('kept');
  });
});

test.each(['', '..', 'a/b', 'a\0b'])('refuses %j as a channel', (channel) => {
  expect(() => openAsks(channel)).toThrow('is not a valid name');
});

describe('copse hook', () => {
  const cli = fileURLToPath(new URL('../../../packages/copse/src/cli.ts', import.meta.url));

  function hook(words: readonly string[], env: Readonly<Record<string, string>>, input: string) {
    const session = { COPSE_SESSION_ID: 'se-1', COPSE_TASK_ID: 'cp-1', COPSE_TOKEN: '1' };
    const child = spawn(process.execPath, [cli, 'hook', ...words], {
      cwd: area,
      env: { ...plainEnv, ...session, ...env },
    });
    child.stdin.on('error', () => {}).end(input);
    return finished(child);
  }

  test('asks the runner and prints the answer unchanged', async () => {
    const worktree = newWorktree();
    const heard: Ask[] = [];
    answering(worktree, (ask) => {
      heard.push(ask);
      return Promise.resolve({ decision: 'block', reason: 'Not yet: ö\n' });
    });
    const long = 'x'.repeat(3 * 1024 * 1024);
    const env = { COPSE_ATTEMPT_ID: 'at-1', COPSE_ASK_FOLDER: worktree };
    const { code, stdout, stderr } = await hook(['stop'], env, JSON.stringify({ last: 'Done.', long }));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ decision: 'block', reason: 'Not yet: ö\n' });
    // A whole file in a question is shortened rather than not asked.
    expect(heard).toMatchObject([{ kind: 'stop', input: { last: 'Done.' } }]);
    expect((heard[0]!.input as { long: string }).long.length).toBeLessThan(20_000);
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
    ['no answer comes in time', ['stop', '--timeout', '0.3'], { COPSE_ATTEMPT_ID: 'at-1' }, '{}'],
    ['no runner started it', ['stop'], {}, '{}'],
    ['it is asked what it does not know', ['delete'], { COPSE_ATTEMPT_ID: 'at-1' }, '{}'],
    ['it is given no JSON', ['permission'], { COPSE_ATTEMPT_ID: 'at-1' }, 'hello'],
    ['its channel is no name', ['stop'], { COPSE_ATTEMPT_ID: '../x' }, '{}'],
  ])('prints nothing and succeeds when %s', async (_, words, env, input) => {
    const worktree = newWorktree();
    answering(worktree, () => new Promise(() => {}));
    const folder = Object.keys(env).length > 0 ? { COPSE_ASK_FOLDER: worktree } : {};
    expect(await hook(words, { ...env, ...folder }, input)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('prints nothing when the runner’s answer is empty', async () => {
    const worktree = newWorktree();
    answering(worktree, () => Promise.resolve(null));
    const env = { COPSE_ATTEMPT_ID: 'at-1', COPSE_ASK_FOLDER: worktree };
    expect(await hook(['notice'], env, '{}')).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
