/**
 * Whole lives under random kills: process groups that prepare, work, stage, commit, remove, reset and undo, several tasks
 * in one repository, each killed at a random moment and started again, until there were 25 kills, 15 in the short version.
 *
 * An agent says what is complete, and from then on that must be found: in a worktree, in the trash or behind a ref. At the
 * end no task is stuck. COPSE_FAULT_SEED repeats a run (though not the moments), COPSE_FAULT_KILLS makes it longer.
 */

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { newArea, plainEnv } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import { drawing } from '../../support/workspaces/workspace-chance.ts';
import type { WorkerSaying } from '../../support/workspaces/workspace-worker.ts';
import { Worker } from '../../support/workspaces/workspace-processes.ts';
import { Project, everythingIn, expectSound, newProject } from '../../support/workspaces/workspaces.ts';

const TASKS = 4;
const KILLS = often({ short: 15, long: 25, variable: 'COPSE_FAULT_KILLS' });
const seed = Number(process.env['COPSE_FAULT_SEED'] ?? Date.now() % 1_000_000);
/** What a worker says before it is killed, at most; a whole turn is about fifteen lines. */
const LONGEST_LIFE = 16;
/** And then, somewhere in what comes next. */
const MOMENT_MS = 80;

const area = newArea();

// promise: kill-safe-worktrees
it(`${KILLS} random kills lose nothing and leave no task stuck (seed ${seed})`, async () => {
  await using project = await Project.open(newProject(path.join(area, 'lives')));
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => project.addTask()));
  const draw = drawing(seed);
  const said: WorkerSaying[] = [];
  let kills = 0;
  await Promise.all(
    tasks.map(async (task) => {
      while (kills < KILLS) {
        const orders = {
          folder: project.folder,
          task,
          act: 'life',
          seed: Math.floor(draw() * 2 ** 31),
        } as const;
        said.push(...(await liveAndDie(orders, draw)));
        kills += 1;
      }
    }),
  );

  const tokens = said.flatMap((one) => (one.says === 'wrote' ? [one.token] : []));
  const commits = said.flatMap((one) => (one.says === 'committed' ? [one.token] : []));
  expect(tokens.length).toBeGreaterThan(KILLS / 2);
  expect(commits.length).toBeGreaterThan(KILLS / 50);
  const everything = everythingIn(project.folder);
  expect(tokens.filter((token) => !everything.includes(token))).toEqual([]);
  const reachable = new Set(reachableCommits(project.folder));
  expect(commits.filter((commit) => !reachable.has(commit))).toEqual([]);
  expect(said.filter(({ says }) => says === 'error' || says === 'blocked')).toEqual([]);

  for (const task of tasks) {
    await project.prepare(task);
    expectSound(project.folder);
    await project.remove(task);
  }
  expectSound(project.folder);
  const afterwards = everythingIn(project.folder);
  expect(tokens.filter((token) => !afterwards.includes(token))).toEqual([]);
}, 300_000);

async function liveAndDie(
  orders: ConstructorParameters<typeof Worker>[0],
  draw: () => number,
): Promise<readonly WorkerSaying[]> {
  const worker = new Worker(orders);
  // Counted in what it has done and not in time, so that a busy machine does not make every life too short.
  const lines = 1 + draw() * LONGEST_LIFE;
  while (worker.said.length < lines && !worker.hasEnded) await setTimeout(2);
  await setTimeout(draw() * MOMENT_MS);
  worker.kill();
  expect(await worker.ended).toBe('SIGKILL');
  return worker.said;
}

function reachableCommits(folder: string): readonly string[] {
  return execFileSync('git', ['rev-list', '--all'], { cwd: folder, env: plainEnv, encoding: 'utf8' }).split(
    '\n',
  );
}
