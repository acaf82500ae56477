/**
 * What the merge queue promises about others who move the target, here and at a remote: 11 of its promises. The remote is a bare
 * repository behind `git http-backend` on loopback, with hooks of its own.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import { git, newArea, plainEnv } from '../../support/cli.ts';
import { serveOverHttp } from '../../support/forge-server/git-http.ts';
import { hook, newRemote } from '../../support/forge-server/remotes.ts';
import { commitOn } from '../../support/git/plain-commits.ts';
import { QueueScene, until } from '../../support/queue/queue-scene.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();

// promise: foreign-moves-kept
describe('promise 11: another person moves the target here', () => {
  it('forward, while a check runs: it is merged onto that and checked again', async () => {
    await using scene = new QueueScene(area, 'moved forward');
    const task = await scene.queue('work');
    scene.knob('hold');
    let theirs = '';
    await scene.whileLed(async () => {
      await until('it is checked', () => scene.started.length === 1);
      theirs = scene.commit('main', { message: 'theirs', files: { 'theirs.txt': 'theirs\n' } });
      scene.release();
      await until('it landed', async () => (await scene.status(task)) === 'done');
    });
    expect(scene.tips.slice(1)).toEqual([theirs, scene.tip]);
    expect(git(scene.folder, 'rev-parse', 'main^')).toBe(theirs);
    expect(scene.files()).toEqual(expect.arrayContaining(['theirs.txt', 'work.txt']));
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
  });

  it('forward, with a change that breaks it: the earlier green verdict does not count', async () => {
    await using scene = new QueueScene(area, 'moved to a clash');
    const task = await scene.queue('left');
    scene.knob('hold');
    let theirs = '';
    const { blamed } = await scene.whileLed(async () => {
      await until('it is checked', () => scene.started.length === 1);
      theirs = scene.commit('main', { message: 'theirs', files: { 'right.txt': 'theirs\n' } });
      scene.release();
      await until('it is handed back', async () => (await scene.status(task)) === 'needs_attention');
    });
    expect(blamed.at(-1)).toMatchObject({ task, cause: { because: 'checks' } });
    expect(scene.tip).toBe(theirs);
  });

  it('back, while a check runs: the removed commits do not come back', async () => {
    await using scene = new QueueScene(area, 'moved back');
    const { tip } = scene;
    scene.commit('main', { message: 'a mistake', files: { 'mistake.txt': '' } });
    const head = scene.commit('work', { message: 'work', files: { 'work.txt': '' }, from: tip });
    const task = await scene.queue('work', { head });
    scene.knob('hold');
    await scene.whileLed(async () => {
      await until('it is checked', () => scene.started.length === 1);
      git(scene.folder, 'update-ref', 'refs/heads/main', tip);
      scene.release();
      await until('it landed', async () => (await scene.status(task)) === 'done');
    });
    expect(git(scene.folder, 'rev-parse', 'main^')).toBe(tip);
    expect(scene.files()).not.toContain('mistake.txt');
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
  });
});

// promise: foreign-moves-kept
describe('promise 11: another person moves the target at the remote', () => {
  it('their push is fetched, merged onto and checked again; nothing is forced', async () => {
    const remote = await newProtectedRemote();
    await using scene = new QueueScene(area, 'pushed', { remote, landing: { push: true } });
    const task = await scene.queue('work');
    scene.knob('hold');
    let theirs = '';
    await scene.whileLed(async () => {
      await until('it is checked', () => scene.started.length === 1);
      theirs = commitOn(remote.bare, 'main', { message: 'theirs', files: { 'theirs.txt': 'theirs\n' } });
      scene.release();
      await until('it landed', async () => (await scene.status(task)) === 'done');
    });
    expect(git(remote.bare, 'rev-parse', 'main')).toBe(scene.tip);
    expect(git(scene.folder, 'rev-parse', 'main^')).toBe(theirs);
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
    expectOnlyForward(remote.bare);
  });

  it('at the moment of the push, the remote refuses it and it is merged again', async () => {
    const remote = await newProtectedRemote();
    await using scene = new QueueScene(area, 'raced', { remote, landing: { push: true } });
    const task = await scene.queue('work');
    let theirs = '';
    await scene.whileLed(() => until('it landed', async () => (await scene.status(task)) === 'done'), {
      onStep: (step) => {
        if (step !== 'journalled' || theirs !== '') return;
        theirs = commitOn(remote.bare, 'main', { message: 'theirs', files: { 'theirs.txt': 'theirs\n' } });
      },
    });
    expect(git(remote.bare, 'rev-parse', 'main')).toBe(scene.tip);
    expect(git(scene.folder, 'rev-parse', 'main^')).toBe(theirs);
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
    expectOnlyForward(remote.bare);
  });
});

describe('promise 11: a remote that refuses is a visible state, and nothing is discarded', () => {
  it('retry: it waits and says why; once the remote accepts, it lands', async () => {
    const { scene, remote } = await refusing('retry');
    await using _ = scene;
    const [tip, head] = [scene.tip, scene.commit('work', { message: 'work', files: { 'work.txt': '' } })];
    const task = await scene.queue('work', { head });
    await scene.whileLed(async () => {
      await until('it says so', async () => ((await scene.landing(task))?.waiting ?? null) !== null);
      const detail = expect.stringContaining('refuse');
      expect((await scene.landing(task))?.waiting).toEqual({ kind: 'push_failed', target: 'main', detail });
      await until('the queue says so', async () => (await scene.merged()).stalled !== null);
      expect([scene.tip, git(remote.bare, 'rev-parse', 'main')]).toEqual([tip, tip]);
      remote.accept();
      await until('it landed', async () => (await scene.status(task)) === 'done');
    });
    expect(git(remote.bare, 'rev-parse', 'main')).toBe(scene.tip);
    expect(scene.headOf('work')).toBe(head);
    expectOnlyForward(remote.bare);
  });

  it('warn: it lands here with a warning about the remote; the next push brings it', async () => {
    const { scene, remote } = await refusing('warn');
    await using _ = scene;
    const task = await scene.queue('work');
    const { landed } = await scene.lead();
    expect(landed).toMatchObject([{ task, notes: [expect.stringContaining('main could not be pushed')] }]);
    expect(git(remote.bare, 'rev-parse', 'main')).toBe(scene.tips[0]);
    remote.accept();
    await scene.queue('more');
    await scene.lead();
    expect(git(remote.bare, 'rev-parse', 'main')).toBe(scene.tip);
    expect(scene.trailers).toHaveLength(2);
    expectOnlyForward(remote.bare);
  });

  it('fail: it goes to a person with its branch as it is; queued again it lands', async () => {
    const { scene, remote } = await refusing('fail');
    await using _ = scene;
    const { tip } = scene;
    const head = scene.commit('work', { message: 'work', files: { 'work.txt': '' } });
    const task = await scene.queue('work', { head });
    await scene.whileLed(() =>
      until('it is set aside', async () => (await scene.status(task)) !== 'landing'),
    );
    expect((await scene.task(task)).state).toMatchObject({ status: 'needs_attention', because: 'push' });
    expect([scene.tip, git(remote.bare, 'rev-parse', 'main'), scene.headOf('work')]).toEqual([
      tip,
      tip,
      head,
    ]);
    remote.accept();
    const again = await scene.queue('work again', { head });
    await scene.lead();
    expect(scene.trailers).toEqual([again]);
    expect(git(remote.bare, 'rev-parse', 'main')).toBe(scene.tip);
    expectOnlyForward(remote.bare);
  });
});

interface Remote {
  readonly bare: string;
  readonly address: string;
  /** From now on it takes everything. */
  accept(): void;
  refuse(): void;
}

/** It writes down every move of its branches. */
async function newProtectedRemote(): Promise<Remote> {
  const bare = newRemote(area);
  git(bare, 'config', 'core.logAllRefUpdates', 'true');
  const switchFile = path.join(bare, 'refusing');
  hook(
    bare,
    'pre-receive',
    'if [ -e refusing ]; then echo "this branch is protected: refused" >&2; exit 1; fi',
  );
  const { host } = await serveOverHttp(bare, 'ada:p4ss-w0rd');
  return {
    bare,
    address: `http://ada:p4ss-w0rd@${host}/octo/trees.git`,
    accept: () => rmSync(switchFile),
    refuse: () => writeFileSync(switchFile, ''),
  };
}

async function refusing(
  onFailure: 'retry' | 'warn' | 'fail',
): Promise<{ scene: QueueScene; remote: Remote }> {
  const remote = await newProtectedRemote();
  const landing = { push: true, on_push_failure: onFailure };
  const scene = new QueueScene(area, `refused ${onFailure}`, { remote, landing });
  remote.refuse();
  return { scene, remote };
}

function expectOnlyForward(bare: string): void {
  const tips = git(bare, 'reflog', 'show', '--format=%H', 'main').split('\n').toReversed();
  expect(tips.length).toBeGreaterThan(1);
  for (const [at, tip] of tips.slice(1).entries()) {
    const argv = ['merge-base', '--is-ancestor', tips[at]!, tip];
    expect(spawnSync('git', argv, { cwd: bare, env: plainEnv }).status).toBe(0);
  }
  expect(existsSync(path.join(bare, 'refusing'))).toBe(false);
}
