/**
 * Killed at every step of preparing and removing, and in the recovery once more at every step. Repeating the same command
 * is all the recovery there is; after that nothing is lost and git is sound. Most throw at the step instead, and each step meets
 * two in the recovery: itself and one other. With COPSE_STRIDE=1 each is killed, and meets every step.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';

import { expect, it, vi } from 'vitest';

import { removalSteps } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { preparationSteps } from '../../../packages/copse/src/workspaces/rules/preparation.ts';
import { newArea } from '../../support/cli.ts';
import { interruptAt, isInterrupted } from '../../support/workspaces/interrupted.ts';
import { isKilled } from '../../support/long.ts';
import { forEachAtOnce, runWorker } from '../../support/workspaces/workspace-processes.ts';
import {
  Project,
  expectAllFound,
  expectFresh,
  expectRemoved,
  expectSound,
  newProject,
  prepareDirty,
  stateOf,
  textsOf,
} from '../../support/workspaces/workspaces.ts';

const AT_ONCE = 2;
const area = newArea();
vi.setConfig({ testTimeout: 240_000 });

const isEveryPair = process.env['COPSE_STRIDE'] === '1';

/** Each step with itself and with one other, near for some and far for others. */
const pairs = (steps: readonly string[]) =>
  steps.flatMap((first, at) =>
    steps
      .filter((_, other) => {
        const distance = (other - at + steps.length) % steps.length;
        return isEveryPair || distance === 0 || distance === 1 + (at % (steps.length - 1));
      })
      .map((second) => ({ first, second })),
  );

interface Kills {
  readonly first: string;
  readonly second: string;
}

// promise: kill-safe-worktrees
it('killed at a step and in the recovery at another, a preparation is finished by the next one', async () => {
  await using project = await Project.open(newProject(path.join(area, 'prepare steps')));
  const kills = pairs(preparationSteps.filter((step) => step !== 'set_aside'));
  expect(kills).toHaveLength(isEveryPair ? 25 : 10);
  await forEachAtOnce(kills, AT_ONCE, async (one) => {
    const task = await project.addTask();
    await killTwice(project, task, 'prepare', one);
    await expectFresh(project, task);
  });
  expect(await project.context.board.list('workspace')).toHaveLength(kills.length);
  expectSound(project.folder);
});

// promise: kill-safe-worktrees
it('killed at a step and in the recovery at another, a preparation that sets a broken worktree aside is finished by the next one, and loses no file', async () => {
  await using project = await Project.open(newProject(path.join(area, 'broken steps')));
  const texts: string[] = [];
  const kills = preparationSteps.map((first, at) => ({
    first,
    second: preparationSteps.at(-1 - at) ?? first,
  }));
  await forEachAtOnce(kills, AT_ONCE, async (kills) => {
    const task = await project.addTask();
    await prepareDirty(project, task);
    texts.push(...textsOf(task));
    rmSync(path.join(project.worktree(task), '.git'));
    await killTwice(project, task, 'prepare', kills);
    await project.prepare(task);
    const { reused } = await project.prepare(task);
    expect([kills, reused, project.run(task, 'log', '--format=%s')]).toEqual([kills, true, `${task}\nfirst`]);
  });
  expectAllFound(project.folder, texts);
  expectSound(project.folder);
});

// promise: kill-safe-worktrees
it('killed at a step and in the recovery at another, a removal is finished by the next one, and what it removed can be undone', async () => {
  await using project = await Project.open(newProject(path.join(area, 'remove steps')));
  const texts: string[] = [];
  await forEachAtOnce(pairs(removalSteps), AT_ONCE, async (kills) => {
    const task = await project.addTask();
    const before = await prepareDirty(project, task);
    texts.push(...textsOf(task));
    await killTwice(project, task, 'remove', kills);
    await expectRemoved(project, task, JSON.stringify(kills));
    // What one kill does to undoing is in the other file.
    if (kills.first !== kills.second) return;
    await project.undo(task);
    expect([kills, stateOf(project.worktree(task))]).toEqual([kills, before]);
  });
  expectAllFound(project.folder, texts);
  expectSound(project.folder);
});

let twice = 0;

async function killTwice(
  project: Project,
  task: TaskId,
  act: 'prepare' | 'remove',
  kills: Kills,
): Promise<void> {
  twice += 1;
  await (isKilled(twice - 1) ? dieTwice : throwTwice)(project, task, act, kills);
}

async function throwTwice(
  project: Project,
  task: TaskId,
  act: 'prepare' | 'remove',
  { first, second }: Kills,
): Promise<void> {
  const tryOnce = (step: string) => isInterrupted(() => project.act(act, task, interruptAt(step)));
  expect([first, await tryOnce(first)]).toEqual([first, true]);
  await tryOnce(second);
}

async function dieTwice(
  { folder }: Project,
  task: TaskId,
  act: 'prepare' | 'remove',
  { first, second }: Kills,
): Promise<void> {
  const one = await runWorker({ folder, task, act, kill: { step: first } });
  expect([first, one.end, one.said]).toEqual([first, 'SIGKILL', expect.anything()]);
  const two = await runWorker({ folder, task, act, kill: { step: second } });
  // The recovery need not come by every step again; but it must not fail.
  expect([first, second, two.said.filter(({ says }) => says === 'error')]).toEqual([first, second, []]);
}
