/**
 * A landing that was interrupted while it wrote a checkout of the target. Only the board's journal says whether it goes on:
 * what the checkout got of it is taken back, so that a task that is cancelled afterwards does not land with the next one.
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, vi } from 'vitest';

import { answer, copse, finished, git, newArea, newRepository, plainEnv } from '../../support/cli.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';

const area = newArea();
const worker = bundleWorker(new URL('../../support/queue/landing-worker.ts', import.meta.url));
vi.setConfig({ testTimeout: 120_000 });

const LONG = 'a line of the landing\n'.repeat(2_000);

/** What a person may do with a task in the queue. */
const refusals = {
  cancel: ['cancel'],
  'queue cancel': ['queue', 'cancel'],
} as const;

// promise: cancelled-never-lands
it.each([
  ['noted', 'cancel', () => {}],
  ['files_written', 'queue cancel', () => {}],
  // The kill came while git wrote this file.
  ['noted', 'cancel', (file: string) => writeFileSync(file, LONG.slice(0, 1_000))],
] as const)(
  'killed at %s, a task that leaves the queue by %s does not land with the next one',
  async (step, how, then) => {
    const repository = newRepository(area);
    writeFileSync(path.join(repository, 'shared.txt'), 'before\n');
    writeFileSync(path.join(repository, 'gone.txt'), 'before\n');
    git(repository, 'add', '.');
    git(repository, 'commit', '--quiet', '--message=shared');
    const [first, second] = [await queue(repository, 'shared'), await queue(repository, 'other')];
    git(repository, 'switch', '--quiet', 'main');
    writeFileSync(path.join(repository, 'mine.txt'), 'not committed');

    expect(await land(repository, first, step)).toBe('SIGKILL');
    then(path.join(repository, 'shared.txt'));
    expect(await land(repository, first, 'merged')).toBe('SIGKILL');
    // Whoever has the checkout can work again.
    const isLocked = existsSync(path.join(repository, '.git', 'index.lock'));
    const status = git(repository, 'status', '--porcelain');
    const shared = readFileSync(path.join(repository, 'shared.txt'), 'utf8');
    await answer([...refusals[how], first], { cwd: repository });
    expect(await land(repository, second, '-')).toBeNull();
    const log = git(repository, 'log', '--format=%(trailers:key=Task,valueonly)', 'main');
    const landed = log.split('\n').filter((line) => line !== '');
    expect({ landed, isLocked, status, shared }).toEqual({
      landed: [second],
      isLocked: false,
      status: '?? mine.txt',
      shared: 'before\n',
    });
    expect(git(repository, 'show', 'main:shared.txt')).toBe('before');
    expect(git(repository, 'status', '--porcelain')).toBe('?? mine.txt');
  },
);

// promise: failed-landing-stops-no-other
it('a task whose worktree has HEAD on the target stops nobody, and nothing is written there', async () => {
  const repository = newRepository(area);
  const task = await queue(repository, 'other');
  const at = { cwd: repository };
  const { id } = await answer<{ id: string }>(['add', 'hostile'], at);
  const { worktree } = await answer<{ worktree: string }>(['work', id], at);
  const gitDir = git(worktree, 'rev-parse', '--absolute-git-dir');
  writeFileSync(path.join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  git(repository, 'switch', '--quiet', 'main');
  await answer(['merge', task], at);
  expect(git(repository, 'log', '--format=%s', 'main')).toBe('other\nfirst');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(existsSync(path.join(worktree, 'other.txt'))).toBe(false);
});

/** Finished by hand; `shared` changes a file, adds one and deletes one. */
async function queue(repository: string, name: string): Promise<string> {
  const at = { cwd: repository };
  const { id } = await answer<{ id: string }>(['add', name], at);
  const { worktree } = await answer<{ worktree: string }>(['work', id], at);
  writeFileSync(path.join(worktree, `${name}.txt`), LONG);
  if (name === 'shared') git(worktree, 'rm', '--quiet', 'gone.txt');
  git(worktree, 'add', '.');
  git(worktree, 'commit', '--quiet', `--message=${name}`);
  await answer(['finish'], { cwd: worktree });
  return id;
}

/** The signal that ended it. */
async function land(repository: string, task: string, step: string): Promise<string | null> {
  const argv = [worker.file, repository, task, step];
  const child = spawn(process.execPath, argv, { env: { ...plainEnv, ...worker.env } });
  const { code, stderr } = await finished(child);
  if (child.signalCode === null) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return child.signalCode;
}

// promise: cancelled-never-lands
it('killed with its landing journalled, it is not cancelled, but the checkout is put in order at once', async () => {
  const repository = newRepository(area);
  const task = await queue(repository, 'other');
  git(repository, 'switch', '--quiet', 'main');
  expect(await land(repository, task, 'files_written')).toBe('SIGKILL');
  const refused = await copse(['cancel', task], { cwd: repository });
  expect(refused.stderr).toContain('already landing');
  expect(existsSync(path.join(repository, '.git', 'index.lock'))).toBe(false);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(git(repository, 'log', '--format=%s', 'main')).toBe('first');
  await answer(['merge', task], { cwd: repository });
  expect(git(repository, 'log', '--format=%s', 'main')).toBe('other\nfirst');
});
