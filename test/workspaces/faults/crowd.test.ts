/** Sixteen prepares at once, several times, by four processes: none fails, whether the base is here or on a remote. */

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import { Worker } from '../../support/workspaces/workspace-processes.ts';
import { Project, expectSound, newProject } from '../../support/workspaces/workspaces.ts';

const ROUNDS = often({ short: 2, long: 3 });
const PROCESSES = 4;
const TASKS_EACH = 4;

const area = newArea();

it.each(['here', 'on a remote'])(
  'sixteen prepares at once, several times, all succeed with a base that is %s',
  async (where) => {
    const origin = newProject(path.join(area, `origin of ${where}`));
    const folder = path.join(area, where);
    if (where === 'here') newProject(folder);
    else git(area, 'clone', '--quiet', origin, folder);
    await using project = await Project.open(folder);
    for (let round = 0; round < ROUNDS; round += 1) {
      if (where !== 'here') {
        writeFileSync(path.join(origin, 'tracked.txt'), `round ${round}\n`);
        git(origin, 'commit', '--quiet', '--all', `--message=round ${round}`);
      }
      const tasks: TaskId[] = [];
      for (let count = 0; count < PROCESSES * TASKS_EACH; count += 1) tasks.push(await project.addTask());
      const signal = path.join(area, `${where} ${round}`);
      const workers = Array.from({ length: PROCESSES }, (_, at) => {
        const [task = '', ...others] = tasks.slice(at * TASKS_EACH, (at + 1) * TASKS_EACH);
        return new Worker({ folder, task, others, act: 'prepare', signal });
      });
      writeFileSync(signal, '');
      await Promise.all(workers.map((worker) => worker.ended));

      const said = workers.flatMap((worker) => worker.said);
      expect(said.filter(({ says }) => says === 'error')).toEqual([]);
      expect(said.filter((one) => one.says === 'did' && one.ok)).toHaveLength(tasks.length);
      const newest = git(where === 'here' ? folder : origin, 'rev-parse', 'main');
      for (const task of tasks) {
        expect(existsSync(path.join(project.worktree(task), 'tracked.txt'))).toBe(true);
        expect(project.run(task, 'rev-parse', 'HEAD')).toBe(newest);
      }
    }
    expectSound(folder);
    const ports = (await project.context.board.list('resource')).filter(({ holder }) => holder !== null);
    expect(new Set(ports.map(({ id }) => id)).size).toBe(ROUNDS * PROCESSES * TASKS_EACH);
  },
  180_000,
);
