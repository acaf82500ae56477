/** What the merge queue promises about order and about people who step in: 6 to 10 of its promises, with real git and real checks. */

import { spawnSync } from 'node:child_process';

import { describe, expect, it, vi } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import {
  hurryTasks,
  pauseQueue,
  resumeQueue,
  skipChecks,
  unqueueTasks,
} from '../../../packages/copse/src/queue/act/control.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type BranchName,
  type CommitId,
  type SessionId,
  type TaskId,
  type WorkspaceId,
  brand,
  fencingToken,
} from '../../../packages/copse/src/kernel/ids.ts';
import { decideLanding } from '../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { QueueScene, until } from '../../support/queue/queue-scene.ts';
import { queueAgain } from '../../support/queue/queued.ts';
import { must } from '../../support/records/tasks.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();
const main = brand<BranchName>('main');
const oneByOne = { slots: 1, every_commit_green: true } as const;
const killedAtStep = bundleWorker(new URL('../../support/queue/landing-worker.ts', import.meta.url));

describe('promise 6: first come, first served within a priority; nothing is passed over for ever', () => {
  it('p5 lands before p3, and in each the one that came first', async () => {
    await using scene = new QueueScene(area, 'priorities', { landing: oneByOne });
    const a = await scene.queue('a', { priority: 'p3' });
    const b = await scene.queue('b', { priority: 'p5' });
    const c = await scene.queue('c', { priority: 'p3' });
    const d = await scene.queue('d', { priority: 'p5' });
    await scene.lead();
    expect(scene.trailers).toEqual([b, d, a, c]);
  });

  it('a change that was passed over too often goes first and alone', async () => {
    const policy = { mostPassedOver: 2, largestBatch: 2 };
    await using scene = new QueueScene(area, 'passed over', { landing: { slots: 1 }, policy });
    const patient = await scene.queue('patient', { priority: 'p1' });
    const important = async (at: number) => scene.queue(`important ${at}`, { priority: 'p5' });
    await important(0);
    await important(1);
    // For ever: whenever something lands, two more are there that are more important.
    await scene.whileLed(async (led) => {
      for (let at = 2; !led.landed.some(({ task }) => task === patient); at += 2) {
        if (at > 20) expect.fail(`It was passed over: ${scene.trailers.length} others landed`);
        await important(at);
        await important(at + 1);
        const { length } = led.landed;
        await until('something lands', () => led.landed.length > length);
      }
    });
    const commit = git(scene.folder, 'log', '--format=%H', 'main', '--', 'patient.txt');
    // Alone: it is the whole of one move of the target.
    const at = scene.tips.indexOf(commit);
    expect(git(scene.folder, 'rev-parse', `${commit}^`)).toBe(scene.tips[at - 1]);
  });
});

describe('promise 7: a hotfix goes first and alone; landing without checks is a recorded act of a person', () => {
  it('a hotfix lands before changes that are being checked, and nothing lands with it', async () => {
    await using scene = new QueueScene(area, 'hotfix', { landing: { slots: 2 } });
    await scene.queue('one');
    await scene.queue('two');
    scene.knob('hold');
    await scene.whileLed(async (led) => {
      await until('both slots are taken', () => scene.started.length === 2);
      const hotfix = await scene.queue('hotfix');
      must(await hurryTasks(await scene.asPerson(), [hotfix]));
      await until('it is checked', async () =>
        (await scene.merged()).runs.some(({ purpose }) => purpose === 'alone'),
      );
      scene.release();
      await until('all landed', () => led.landed.length === 3);
      expect(led.landed[0]?.task).toBe(hotfix);
    });
    const [first = '', second = ''] = scene.tips;
    expect(git(scene.folder, 'diff', '--name-only', first, second)).toBe('hotfix.txt');
    expect(scene.green.has(scene.treeOf(second))).toBe(true);
  });

  // promise: unverified-recorded
  it('a person may land a change without checks, which is recorded; an agent may not', async () => {
    await using scene = new QueueScene(area, 'unchecked');
    const task = await scene.queue('bad but urgent');
    const context = await scene.open();
    const session = { kind: 'session', session: brand<SessionId>('se-1'), token: fencingToken(1) } as const;
    for (const by of [session, context.by])
      expect(await skipChecks({ ...context, by }, [task])).toMatchObject({
        kind: 'refused',
        refusal: { code: 'not_this_session' },
      });
    expect(await scene.events('landing.checks_skipped')).toEqual([]);
    must(await skipChecks(await scene.asPerson(), [task]));
    const { landed } = await scene.lead();
    expect(landed).toMatchObject([{ task, isVerified: false }]);
    expect(scene.started).toEqual([]);
    const recorded = await context.board.events({
      after: 0 as never,
      types: ['landing.checks_skipped'],
      limit: 10,
    });
    expect(recorded).toMatchObject([{ by: { kind: 'person', name: 'ada' } }]);
  });
});

describe('promise 8: two switches, and taking out works with both until it is journalled', () => {
  it('paused landing: the target stays, no check is begun, taking out works, and resuming lands the rest', async () => {
    await using scene = new QueueScene(area, 'pause landing');
    const person = await scene.asPerson();
    const stays = await scene.queue('stays');
    const leaves = await scene.queue('leaves');
    must(await pauseQueue(person, main, { what: ['land'], reason: 'release day' }));
    const { tip } = scene;
    expect(await scene.lead()).toMatchObject({ landed: [], blamed: [] });
    expect([scene.tip, scene.started]).toEqual([tip, []]);
    expect(await scene.landing(stays)).toMatchObject({ waiting: { kind: 'paused', comment: 'release day' } });
    must(await unqueueTasks(person, [leaves], null));
    expect(await scene.status(leaves)).toBe('in_review');
    must(await resumeQueue(person, main, ['land']));
    expect((await scene.lead()).landed).toMatchObject([{ task: stays }]);
    expect(scene.trailers).toEqual([stays]);
  });

  it('paused accepting: queued changes land, later ones wait outside and can be taken out', async () => {
    await using scene = new QueueScene(area, 'pause accepting');
    const person = await scene.asPerson();
    const before = await scene.queue('before');
    await tick();
    must(await pauseQueue(person, main, { what: ['accept'], reason: null }));
    await tick();
    const later = await scene.queue('later');
    const leaves = await scene.queue('leaves');
    expect((await scene.lead()).landed.map(({ task }) => task)).toEqual([before]);
    expect(await scene.landing(later)).toMatchObject({ waiting: { kind: 'not_accepted', comment: null } });
    must(await unqueueTasks(person, [leaves], null));
    must(await resumeQueue(person, main, ['accept']));
    expect((await scene.lead()).landed.map(({ task }) => task)).toEqual([later]);
    expect(scene.trailers).toEqual([before, later]);
  });

  it('taken out while it is checked, it does not land, and the others do', async () => {
    await using scene = new QueueScene(area, 'cancel in a check', { landing: { slots: 1 } });
    const [stays, leaves] = [await scene.queue('stays'), await scene.queue('leaves')];
    scene.knob('hold');
    await scene.whileLed(async () => {
      await until('they are checked', () => scene.started.length === 1);
      must(await unqueueTasks(await scene.asPerson(), [leaves], 'not yet'));
      scene.release();
      await until('the other one landed', async () => (await scene.status(stays)) === 'done');
    });
    expect(scene.trailers).toEqual([stays]);
    expect(await scene.status(leaves)).toBe('in_review');
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
  });

  it('taken out before the journal it does not land; after it the answer is that it is already landing', async () => {
    await using scene = new QueueScene(area, 'cancel and journal', { landing: { checks: {} } });
    const person = await scene.asPerson();
    const early = await scene.queue('early');
    killAt(scene, early, 'kept');
    must(await unqueueTasks(person, [early], null));
    const late = await scene.queue('late');
    killAt(scene, late, 'journalled');
    expect(await unqueueTasks(person, [late], null)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'already_landing', reason: expect.stringContaining('already landing') },
    });
    await scene.lead();
    expect(scene.trailers).toEqual([late]);
  });
});

describe('promise 9: a dependant never lands before its dependency', () => {
  // promise: dependency-order
  it('a dependency that is handed back holds it, without a handback of its own; once fixed, the dependency lands first', async () => {
    await using scene = new QueueScene(area, 'dependencies');
    const context = await scene.open();
    const base = await scene.queue('base', { commit: { files: { 'bad.txt': 'bad\n' } } });
    const dependant = await scene.queue('dependant', { dependsOn: [base], priority: 'p5' });
    const first = await scene.lead();
    expect(first.blamed.map(({ task }) => task)).toEqual([base]);
    expect(first.landed).toEqual([]);
    expect(await scene.status(base)).toBe('needs_attention');
    expect(await scene.task(dependant)).toMatchObject({
      state: { status: 'landing' },
      retries: 0,
      handbacks: {},
    });
    // The next look says so.
    expect(await scene.lead()).toMatchObject({ landed: [], blamed: [] });
    expect(await scene.landing(dependant)).toMatchObject({
      waiting: { kind: 'dependency', task: base, status: 'needs_attention' },
    });
    const mended = { message: 'fix: mend', files: { 'bad.txt': null, 'more.txt': 'more\n' } };
    scene.commit('base', mended);
    await queueAgain(context, base, scene.headOf('base'));
    await scene.lead();
    expect(scene.trailers).toEqual([base, base, dependant]);
    expect(await scene.status(dependant)).toBe('done');
  });
});

describe('promise 10: a branch that moves while queued is a new attempt at the same place', () => {
  // promise: checked-tree-lands
  it('a green verdict of the old head does not apply to the new one, which keeps its place', async () => {
    await using scene = new QueueScene(area, 'moved branch', { landing: oneByOne });
    const [task, worktree] = await queueWorktree(scene, 'moving');
    const second = await scene.queue('second');
    const place = (await scene.landing(task))?.queuedAt;
    scene.knob('hold');
    await scene.whileLed(async () => {
      await until('the old head is checked', () => scene.started.length === 1);
      const head = scene.commit('moving', { message: 'feat: more', files: { 'more.txt': 'more\n' } });
      git(worktree, 'reset', '--quiet', '--hard');
      await until('it is noticed', async () => (await scene.landing(task))?.head === head);
      expect((await scene.landing(task))?.queuedAt).toBe(place);
      scene.release();
      await until('both landed', async () => (await scene.status(second)) === 'done');
    });
    expect(scene.trailers.filter((one, at, all) => one !== all[at - 1])).toEqual([task, second]);
    expect(scene.files()).toEqual(expect.arrayContaining(['moving.txt', 'more.txt', 'second.txt']));
    const tips = scene.tips.slice(1);
    expect(tips.every((tip) => scene.green.has(scene.treeOf(tip)))).toBe(true);
    expect(tips.every((tip) => scene.files(tip).includes('more.txt'))).toBe(true);
  });

  it('moved after its check was green, only the checked head lands', async () => {
    await using scene = new QueueScene(area, 'moved when green');
    const [task, worktree] = await queueWorktree(scene, 'moving');
    let moved = '';
    const { blamed, landed } = await scene.lead({
      onStep: (step) => {
        if (step !== 'merged' || moved !== '') return;
        moved = scene.commit('moving', { message: 'feat: bad', files: { 'bad.txt': 'bad\n' } });
        git(worktree, 'reset', '--quiet', '--hard');
      },
    });
    // What was green when it was journalled may land; what came later may not.
    expect(moved).not.toBe('');
    expect(scene.files()).not.toContain('bad.txt');
    expect(landed.length + blamed.length).toBe(1);
    expect(scene.tips.slice(1).every((tip) => scene.green.has(scene.treeOf(tip)))).toBe(true);
    expect(scene.trailers).toEqual(landed.map(() => task));
  });
});

it('promise 10: a landing that another process queued with a new head is not journalled with the old one', async () => {
  await using scene = new QueueScene(area, 'requeued meanwhile', { landing: { checks: {} } });
  const task = await scene.queue('moving');
  const old = scene.headOf('moving');
  const head = scene.commit('moving', { message: 'feat: more', files: { 'more.txt': 'more\n' } });
  const context = await scene.open();
  const { landed } = await scene.lead({
    meanwhile: async () => {
      const landing = await scene.landing(task);
      if (landing === undefined) throw new Error('It is not in the queue');
      const request = { action: 'requeue', head: brand<CommitId>(head), reason: 'its branch moved' } as const;
      must(await change(context, (change) => change.apply(decideLanding(landing, request, change.at))));
    },
  });
  expect(landed).toMatchObject([{ task }]);
  expect(scene.tips).toHaveLength(2);
  expect(scene.files()).toEqual(expect.arrayContaining(['moving.txt', 'more.txt']));
  expect(old).not.toBe(head);
});

/** A task with a worktree, as one that was worked on here has it. */
async function queueWorktree(scene: QueueScene, name: string): Promise<readonly [TaskId, string]> {
  const baseCommit = brand<CommitId>(scene.tip);
  const task = await scene.queue(name);
  const worktree = `${scene.folder} ${name}`;
  git(scene.folder, 'worktree', 'add', '--quiet', worktree, name);
  const context = await scene.open();
  const of = { path: worktree, branch: brand<BranchName>(name), baseBranch: main, baseCommit };
  const prepared = { id: brand<WorkspaceId>(`ws-${name}`), task, node: context.node, worktree: of };
  must(
    await change(context, (change) =>
      change.apply(
        decided({ type: 'workspace.prepared', at: change.at, strategy: 'git_worktree', ...prepared }),
      ),
    ),
  );
  return [task, worktree];
}

function killAt({ folder }: QueueScene, task: TaskId, step: string): void {
  const argv = [killedAtStep.file, folder, task, step];
  const { signal } = spawnSync(process.execPath, argv, {
    env: { ...plainEnv, ...killedAtStep.env },
    timeout: 150_000,
  });
  expect(signal).toBe('SIGKILL');
}

/** The next moment by the clock. */
async function tick(): Promise<void> {
  const now = Date.now();
  await until('the clock moves', () => Date.now() > now + 1);
}
