/**
 * A landing killed at every step, and in the recovery at another; in the short version most of them throw there instead. Landing again is all the recovery there is; after that the
 * task's change is on the target exactly once, and whoever has the target checked out has it too.
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import { landingSteps } from '../../../packages/copse/src/queue/lead/land.ts';
import { answer, finished, git, newArea, newRepository, plainEnv } from '../../support/cli.ts';
import { interruptAt, isInterrupted } from '../../support/workspaces/interrupted.ts';
import { landOne } from '../../support/queue/landing.ts';
import { isKilled, isLong } from '../../support/long.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { forEachAtOnce } from '../../support/workspaces/workspace-processes.ts';

const area = newArea();
const AT_ONCE = 2;
const worker = bundleWorker(new URL('../../support/queue/landing-worker.ts', import.meta.url));
vi.setConfig({ testTimeout: 240_000 });

/** Every step once, each with another kill in the recovery. */
const kills = landingSteps.map((first, at) => ({
  first,
  second: landingSteps.at(-1 - at) ?? first,
  land: landAs(at),
}));

describe.each([
  ['checked out', ['switch', '--quiet', 'main']],
  ['not checked out', ['switch', '--quiet', '--detach']],
])('a landing on a target that is %s', (_, checkout) => {
  // promise: lands-once
  it('killed at a step and in the recovery at another, lands exactly once', async () => {
    await forEachAtOnce(kills, AT_ONCE, async ({ first, second, land }) => {
      const repository = newRepository(area);
      const task = await queueOne(repository);
      git(repository, ...checkout);
      // Somebody else's work is in the checkout, and stays as it is.
      writeFileSync(path.join(repository, 'mine.txt'), 'not committed');
      expect(await land(repository, task, first)).toEqual({ killed: true });
      await land(repository, task, second);
      await land(repository, task, '-');

      const { tasks } = await answer<{ tasks: { id: string; status: string }[] }>(['list'], {
        cwd: repository,
      });
      expect(tasks.find(({ id }) => id === task)?.status, `${first}, ${second}`).toBe('done');
      const landed = git(repository, 'log', '--format=%B', 'main').match(new RegExp(`^Task: ${task}$`, 'gm'));
      expect(landed, `${first}, ${second}`).toHaveLength(1);
      expect(git(repository, 'show', 'main:work.txt')).toBe('done');
      expect(git(repository, 'for-each-ref', 'refs/copse/candidate')).toBe('');
      expect(readFileSync(path.join(repository, 'mine.txt'), 'utf8')).toBe('not committed');
      const isOut = checkout.includes('main');
      expect(existsSync(path.join(repository, 'work.txt'))).toBe(isOut);
      expect(git(repository, 'status', '--porcelain')).toBe('?? mine.txt');
      expect(existsSync(path.join(repository, '.git', 'index.lock'))).toBe(false);
    });
  });
});

it('killed while it updates a checkout, the next pass finishes that, also when nothing is left to land', async () => {
  // Killed, not thrown: what fails is taken back at once.
  const steps = ['files_written', 'branch_moved', 'noted', 'index_written'];
  for (const step of isLong ? steps : steps.slice(0, 2)) {
    const land = landAndDie;
    const repository = newRepository(area);
    const task = await queueOne(repository);
    git(repository, 'switch', '--quiet', 'main');
    const killed = await land(repository, task, step);
    const after = await land(repository, task, '-');
    expect({
      step,
      killed,
      after,
      isLocked: existsSync(path.join(repository, '.git', 'index.lock')),
      status: git(repository, 'status', '--porcelain'),
      work: readFileSync(path.join(repository, 'work.txt'), 'utf8'),
    }).toMatchObject({
      step,
      killed: { killed: true },
      after: { kind: 'landed' },
      isLocked: false,
      status: '',
      work: 'done',
    });
  }
});

// promise: foreign-moves-kept
it('a target that another person moved between two tries is merged again, and their commits stay', async () => {
  const repository = newRepository(area);
  const task = await queueOne(repository);
  git(repository, 'switch', '--quiet', '--detach');
  expect(await landAndDie(repository, task, 'journalled')).toEqual({ killed: true });
  const theirs = git(repository, 'commit-tree', '-p', 'main', '-m', 'theirs', 'main^{tree}').trim();
  git(repository, 'update-ref', 'refs/heads/main', theirs);
  expect(await landAndDie(repository, task, '-')).toMatchObject({ kind: 'landed' });
  expect(git(repository, 'log', '--format=%s', 'main').trim().split('\n')).toEqual([
    'work',
    'theirs',
    'first',
  ]);
});

// promise: lead-fenced
it('a leader that lost the queue journals nothing', async () => {
  const repository = newRepository(area);
  const task = await queueOne(repository);
  git(repository, 'switch', '--quiet', '--detach');
  const { openRun } = await import('../../../packages/copse/src/compose/run/run.ts');
  const { lead } = await import('../../../packages/copse/src/queue/lead/leadership.ts');
  const { leadQueue } = await import('../../../packages/copse/src/queue/lead/lead-queue.ts');
  const { newQueueMemory } = await import('../../../packages/copse/src/queue/lead/memory.ts');
  const opened = await openRun({ cwd: repository, env: plainEnv }, { asNode: true });
  const { context } = opened;
  const [landing] = await context.board.openLandings();
  if (landing === undefined) throw new Error('Nothing is queued');
  const before = git(repository, 'rev-parse', 'main');
  const landed: unknown[] = [];
  await lead(context, landing.target, (lead) =>
    leadQueue(
      context,
      { ...lead, token: (lead.token - 1) as typeof lead.token, renew: async () => true },
      {
        memory: newQueueMemory(context),
        signal: new AbortController().signal,
        onLanded: (one) => landed.push(one),
        onRejected: async () => {},
        onNote: () => {},
      },
    ),
  );
  expect(landed).toEqual([]);
  expect(await context.board.get('task', task)).toMatchObject({ state: { status: 'landing' } });
  expect(git(repository, 'rev-parse', 'main')).toBe(before);
  await opened.close();
});

/** A task that a person finished by hand, in the queue. */
async function queueOne(repository: string): Promise<string> {
  const at = { cwd: repository };
  const { id } = await answer<{ id: string }>(['add', 'Work'], at);
  const { worktree } = await answer<{ worktree: string }>(['work', id], at);
  writeFileSync(path.join(worktree, 'work.txt'), 'done');
  git(worktree, 'add', '.');
  git(worktree, 'commit', '--quiet', '--message=work');
  await answer(['finish'], { cwd: worktree });
  return id;
}

function landAs(index: number): typeof landAndDie {
  return isKilled(index) ? landAndDie : landAndThrow;
}

async function landAndDie(repository: string, task: string, step: string): Promise<unknown> {
  const argv = [worker.file, repository, task, step];
  const child = spawn(process.execPath, argv, { env: { ...plainEnv, ...worker.env } });
  const { code, stdout, stderr } = await finished(child);
  if (child.signalCode === 'SIGKILL') return { killed: true };
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout === '' ? { landing: 'nothing to do' } : JSON.parse(stdout);
}

async function landAndThrow(cwd: string, task: string, step: string): Promise<unknown> {
  let landed: unknown;
  const isOver = await isInterrupted(async () => {
    landed = await landOne({ cwd, env: plainEnv, task, onStep: interruptAt(step) });
  });
  return isOver ? { killed: true } : (landed ?? { landing: 'nothing to do' });
}
