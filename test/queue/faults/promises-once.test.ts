/**
 * What the merge queue promises about landing once: 4 and 5 of its promises, with checks, with leaders in processes of their own
 * that are killed. Landing without checks is killed at every step in landing-steps.test.ts.
 */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import { type LandingStep, landingSteps } from '../../../packages/copse/src/queue/lead/land.ts';
import { queueTask } from '../../../packages/copse/src/queue/act/merge.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import { type LandingId, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea, plainEnv } from '../../support/cli.ts';
import { QueueScene, until } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';
import { type WorkerProgram, bundleWorker } from '../../support/agents/worker-program.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();
const leader = bundleWorker(new URL('../../support/queue/queue-worker.ts', import.meta.url));
const killedAtStep = bundleWorker(new URL('../../support/queue/landing-worker.ts', import.meta.url));

describe('promise 4: one landing per task', () => {
  // promise: lands-once
  it('two processes that lead at once land each task once', async () => {
    await using scene = new QueueScene(area, 'two leaders');
    const tasks = [];
    for (const at of [1, 2, 3, 4]) tasks.push(await scene.queue(`change ${at}`));
    const leaders = [startLeader(scene), startLeader(scene)];
    await Promise.all(leaders.map(({ done }) => done));
    expect(scene.trailers.toSorted()).toEqual(tasks.toSorted());
    for (const task of tasks) expect(await scene.status(task)).toBe('done');
  });

  it('a task that is queued twice lands once, and is not queued again once it landed', async () => {
    await using scene = new QueueScene(area, 'queued twice', { landing: { checks: {} } });
    const task = await scene.queue('twice');
    const context = await scene.open();
    const landing = (await scene.landing(task)) ?? expect.fail('It is queued');
    const again = await Promise.all([queueTask(context, task), queueTask(context, task)]);
    expect(again.map((outcome) => must(outcome).id)).toEqual([landing.id, landing.id]);
    // A second landing of the same task, as a board has it that was brought together from two.
    await change(context, (change) => {
      const { target, attempt, head } = landing;
      const of = { id: brand<LandingId>('la-second'), at: change.at, task, target, attempt, head };
      return change.apply(decided({ type: 'landing.queued', ...of }));
    });
    const { landed } = await scene.lead();
    expect(landed.map((one) => one.task)).toEqual([task]);
    expect(scene.trailers).toEqual([task]);
    expect(await queueTask(context, task)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'wrong_status' },
    });
  });

  it('work that is on the target already lands without a second copy', async () => {
    await using scene = new QueueScene(area, 'same work', { landing: { checks: {} } });
    const first = await scene.queue('work');
    await scene.lead();
    const tip = scene.tip;
    const second = await scene.queue('the same work', { head: scene.headOf('work') });
    const { landed } = await scene.lead();
    expect(landed).toMatchObject([{ task: second, notes: ['main already contains all of it.'] }]);
    expect(scene.tip).toBe(tip);
    expect(scene.trailers).toEqual([first]);
  });
});

describe('promise 5: journal, move, read back, mark', () => {
  /** What is true on the target and on the board after a kill at a step. */
  const after: Readonly<Record<LandingStep, { readonly isMoved: boolean; readonly isDone: boolean }>> = {
    merged: { isMoved: false, isDone: false },
    kept: { isMoved: false, isDone: false },
    journalled: { isMoved: false, isDone: false },
    pushed: { isMoved: false, isDone: false },
    moved: { isMoved: true, isDone: false },
    recorded: { isMoved: true, isDone: true },
  };

  // promise: lands-once
  it.each(landingSteps)(
    'killed when it is %s, the next leader finishes it without another check',
    async (step) => {
      await using scene = new QueueScene(area, `killed at ${step}`);
      const task = await scene.queue('work');
      killAt(scene, task, step);
      const { isMoved, isDone } = after[step];
      expect(scene.files().includes('work.txt')).toBe(isMoved);
      expect(await scene.status(task)).toBe(isDone ? 'done' : 'landing');
      goOn(scene, task);
      expect(await scene.status(task)).toBe('done');
      expect(scene.trailers).toEqual([task]);
      expect(scene.green.has(scene.treeOf('main'))).toBe(true);
      expect(scene.started).toHaveLength(1);
    },
  );

  // promise: foreign-moves-kept
  it('a move of the target between the journal and the move is seen: nothing is marked, and it is checked again', async () => {
    await using scene = new QueueScene(area, 'moved in between');
    const task = await scene.queue('work');
    let theirs = '';
    const { landed } = await scene.lead({
      onStep: (step) => {
        if (step !== 'journalled' || theirs !== '') return;
        theirs = scene.commit('main', { message: 'theirs', files: { 'theirs.txt': 'theirs\n' } });
      },
    });
    expect(landed.map((one) => one.task)).toEqual([task]);
    expect(scene.tips.slice(1)).toEqual([theirs, scene.tip]);
    expect(scene.trailers).toEqual([task]);
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
    const { reason } = (await scene.events('landing.requeued')).at(-1) ?? {};
    expect(reason).toBe('main moved meanwhile');
  });

  it('a journal entry for a target that has moved since is not used', async () => {
    await using scene = new QueueScene(area, 'rewritten after journal');
    const task = await scene.queue('work');
    killAt(scene, task, 'journalled');
    const theirs = scene.commit('main', { message: 'theirs', files: { 'theirs.txt': 'theirs\n' } });
    expect(await scene.status(task)).toBe('landing');
    const { landed } = await scene.lead();
    expect(landed.map((one) => one.task)).toEqual([task]);
    expect(scene.tips.slice(1)).toEqual([theirs, scene.tip]);
    expect(scene.green.has(scene.treeOf('main'))).toBe(true);
  });

  it('the check of a leader that was killed is ended by the next one and run again', async () => {
    await using scene = new QueueScene(area, 'orphaned check');
    const task = await scene.queue('work');
    scene.knob('hold');
    const { child } = startLeader(scene);
    await until('its check runs', () => scene.started.length === 1);
    const [orphan = 0] = scene.started;
    child.kill('SIGKILL');
    await until('it is gone', () => child.signalCode !== null);
    expect(isAlive(orphan)).toBe(true);
    const led = await scene.whileLed(async () => {
      await until('it is checked again', () => scene.started.length === 2);
      expect(isAlive(orphan)).toBe(false);
      scene.release();
      await until('it landed', async () => (await scene.status(task)) === 'done');
    });
    expect(led.notes.join('\n')).toMatch(/Ended \d+ process(es)? of the check/);
    // The one that was ended has nothing more to say.
    expect(scene.seen.map(({ verdict }) => verdict)).toEqual(['green']);
    expect(scene.trailers).toEqual([task]);
  });
});

function startLeader({ folder }: QueueScene): {
  readonly child: ChildProcessWithoutNullStreams;
  readonly done: Promise<void>;
} {
  const child = spawn(process.execPath, [leader.file], { env: environmentOf(leader) });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr.pipe(process.stderr, { end: false });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const done = until('it led to the end', () => said.includes('done'));
  done.catch(() => {});
  child.stdin.end(`${folder}\n`);
  return { child, done };
}

function killAt(scene: QueueScene, task: TaskId, step: LandingStep): void {
  expect(leadFor(scene, task, step)).toEqual({ signal: 'SIGKILL', stderr: '' });
}

/** Somebody with the same environment, in which the same verdicts hold. */
function goOn(scene: QueueScene, task: TaskId): void {
  expect(leadFor(scene, task, '-')).toEqual({ signal: null, stderr: '' });
}

function leadFor({ folder }: QueueScene, task: TaskId, step: string) {
  const argv = [killedAtStep.file, folder, task, step];
  const options = { env: environmentOf(killedAtStep), encoding: 'utf8', timeout: 150_000 } as const;
  const { signal, stderr } = spawnSync(process.execPath, argv, options);
  return { signal, stderr };
}

function environmentOf({ env }: WorkerProgram): NodeJS.ProcessEnv {
  return { ...plainEnv, ...env };
}

/** One that ended, and whose parent did not look yet, is not alive. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}
