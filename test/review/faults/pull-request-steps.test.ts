/**
 * Opening a pull request, killed at every step and in the recovery at another, and by several at once. Looking again is all the
 * recovery there is; after that there is exactly one pull request, for exactly what was submitted. In the short version most
 * throw at the step instead.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import { attendPullRequest } from '../../../packages/copse/src/review/act/pull-request-follow.ts';
import { pullRequestSteps } from '../../../packages/copse/src/review/act/pull-request-open.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { answer, copse, finished, git, newArea, plainEnv } from '../../support/cli.ts';
import { ForgeServer } from '../../support/forge-server/server.ts';
import { likeGitlab, newRemote } from '../../support/forge-server/remotes.ts';
import { interruptAt, isInterrupted } from '../../support/workspaces/interrupted.ts';
import { isKilled } from '../../support/long.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';

const area = newArea();
const worker = bundleWorker(new URL('../../support/queue/pull-request-worker.ts', import.meta.url));
vi.setConfig({ testTimeout: 240_000 });

interface Wanted {
  readonly forge: ForgeServer;
  readonly folder: string;
  readonly task: string;
  readonly head: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A task that is finished and wants a pull request, which the forge was too busy to open. */
async function newWanted(kind: 'github' | 'gitlab', isLoggedIn: boolean): Promise<Wanted> {
  const scene = newScene(area, { sections: { landing: { policy: 'pr', forge: kind } } });
  const bare = newRemote(area);
  scene.git('remote', 'add', 'origin', bare);
  scene.git('push', '--quiet', 'origin', 'main');
  const forge = await ForgeServer.start({ kind, bare });
  const env = isLoggedIn ? forge.environment : {};
  const at = { cwd: scene.folder, env };
  const { id } = await answer<{ id: string }>(['add', 'Wanted'], at);
  await copse(['work', id], at);
  const worktree = path.join(scene.folder, '.worktrees', id);
  writeFileSync(path.join(worktree, 'work.txt'), 'done\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: work');
  // Out of reach while the person finishes it.
  git(scene.folder, 'config', 'remote.origin.url', `${bare}.away`);
  const { code, stderr } = await copse(['finish', id], { ...at, cwd: worktree });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  git(scene.folder, 'config', 'remote.origin.url', bare);
  const head = git(worktree, 'rev-parse', 'HEAD');
  expect(forge.pulls.all).toEqual([]);
  return { forge, folder: scene.folder, task: id, head, env };
}

function attend({ folder, task, env }: Wanted, step: string): ChildProcess {
  return spawn(process.execPath, [worker.file, folder, task, step], {
    env: { ...plainEnv, ...env, ...worker.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function attendAndDie(wanted: Wanted, step: string): Promise<'killed' | 'finished'> {
  const { code, stderr } = await finished(attend(wanted, step));
  if (code === null) return 'killed';
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return 'finished';
}

async function attendAndThrow({ folder, task, env }: Wanted, step: string): Promise<'killed' | 'finished'> {
  const opened = await openRun({ cwd: folder, env: { ...plainEnv, ...env } }, { asNode: true });
  try {
    const act = () => attendPullRequest(opened.context, brand<TaskId>(task), interruptAt(step));
    return (await isInterrupted(act)) ? 'killed' : 'finished';
  } finally {
    await opened.close();
  }
}

describe.each([
  ['GitHub', 'github', true],
  ['GitLab', 'gitlab', true],
  ['GitLab without a token', 'gitlab', false],
] as const)('at %s', (_, kind, isLoggedIn) => {
  // promise: pull-request-once
  it.each(pullRequestSteps.map((step, at) => [step, pullRequestSteps.at(-1 - at) ?? step, at] as const))(
    'killed when it was %s, and then when it was %s, there is one pull request, and it is on the board',
    async (first, second, at) => {
      const wanted = await newWanted(kind, isLoggedIn);
      const { forge, task, head } = wanted;
      if (!isLoggedIn) likeGitlab(forge.pulls.bare, forge.page);
      const look = isKilled(at) ? attendAndDie : attendAndThrow;
      expect(await look(wanted, first)).toBe('killed');
      await look(wanted, second);
      expect(await look(wanted, '-')).toBe('finished');

      const { pullRequest } = await answer<{ pullRequest: object }>(['show', task], {
        cwd: wanted.folder,
        env: wanted.env,
      });
      expect(pullRequest).toMatchObject({ state: 'open', url: expect.stringMatching(/\/1$/), note: null });
      if (isLoggedIn) expect(forge.pulls.only()).toMatchObject({ state: 'open', lastHead: head });
      else expect(git(forge.pulls.bare, 'rev-parse', 'refs/merge-requests/1/head')).toBe(head);
    },
  );
});

// promise: pull-request-once
it('opened by several at once, it is opened once', async () => {
  const wanted = await newWanted('github', true);
  const ends = await Promise.all(Array.from({ length: 4 }, () => finished(attend(wanted, '-'))));
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(wanted.forge.pulls.only()).toMatchObject({ state: 'open', lastHead: wanted.head });
  expect(wanted.forge.posts).toHaveLength(1);
});

it('pushed, then continued by another person, it is opened with all commits', async () => {
  const wanted = await newWanted('github', true);
  await finished(attend(wanted, 'pushed'));
  const { bare } = wanted.forge.pulls;
  const branch = git(bare, 'for-each-ref', '--format=%(refname)', `refs/heads/${wanted.task}`);
  const theirs = git(bare, 'commit-tree', `${branch}^{tree}`, '-p', branch, '-m', 'theirs');
  git(bare, 'update-ref', branch, theirs);
  await finished(attend(wanted, '-'));
  expect(wanted.forge.pulls.only()).toMatchObject({ state: 'open', lastHead: theirs });
  const { stdout } = await copse(['why', wanted.task], { cwd: wanted.folder, env: wanted.env });
  expect(stdout).toContain('another person pushed to it');
});

it('merged, but not recorded, the next pass finds it done', async () => {
  const wanted = await newWanted('github', true);
  await finished(attend(wanted, 'opened'));
  wanted.forge.pulls.merge(wanted.forge.pulls.only());
  await finished(attend(wanted, '-'));
  const at = { cwd: wanted.folder, env: wanted.env };
  expect(await answer(['show', wanted.task], at)).toMatchObject({ status: 'done' });
  expect(wanted.forge.posts).toHaveLength(1);
});

it('merged, but taken back from the remote’s target, it stays in review until the target has it', async () => {
  const wanted = await newWanted('github', true);
  const { bare } = wanted.forge.pulls;
  await finished(attend(wanted, '-'));
  const before = git(bare, 'rev-parse', 'main');
  const merged = wanted.forge.pulls.merge(wanted.forge.pulls.only());
  const attendAt = async (tip: string) => {
    git(bare, 'update-ref', 'refs/heads/main', tip);
    const { stdout } = await finished(attend(wanted, '-'));
    const { status } = await answer<{ status: string }>(['show', wanted.task], {
      cwd: wanted.folder,
      env: wanted.env,
    });
    return { status, attended: JSON.parse(stdout) as object };
  };
  expect(await attendAt(before)).toMatchObject({
    status: 'in_review',
    attended: { kind: 'failed', reason: expect.stringContaining('does not contain yet') },
  });
  expect(await attendAt(merged)).toMatchObject({ status: 'done', attended: { kind: 'seen' } });
});
