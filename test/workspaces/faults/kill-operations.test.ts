/**
 * Killed before every single operation of preparing, removing, resetting and undoing: every program that is started and
 * every call that changes the disk. The same command again finishes it, and what is then undone is as it was, to the byte.
 * The short version takes one operation of ten.
 */

import path from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import type { WorkspaceAct } from '../../support/workspaces/workspace-worker.ts';
import { runWorker } from '../../support/workspaces/workspace-processes.ts';
import {
  Project,
  expectFresh,
  expectRemoved,
  expectSound,
  newProject,
  prepareDirty,
  stateOf,
} from '../../support/workspaces/workspaces.ts';

const AT_ONCE = 2;
const area = newArea();
vi.setConfig({ testTimeout: 240_000 });

// promise: kill-safe-worktrees
describe('killed before each operation', () => {
  it('a preparation is finished by the next one', async () => {
    await using project = await Project.open(newProject(path.join(area, 'prepare operations')));
    const operations = await atEachOperation(project, 'prepare', {
      before: () => Promise.resolve(),
      after: async (task) => expectFresh(project, task),
    });
    expect(operations).toBeGreaterThan(8);
  });

  it('a removal is finished by the next one, and what it removed can be undone', async () => {
    await using project = await Project.open(newProject(path.join(area, 'remove operations')));
    const operations = await atEachOperation(project, 'remove', {
      before: (task) => prepareDirty(project, task),
      after: async (task, before, point) => {
        await expectRemoved(project, task, point);
        await project.undo(task);
        expect([point, stateOf(project.worktree(task))]).toEqual([point, before]);
      },
    });
    expect(operations).toBeGreaterThan(8);
  });

  it('a reset is finished by the next one, and can be undone', async () => {
    await using project = await Project.open(newProject(path.join(area, 'reset operations')));
    const operations = await atEachOperation(project, 'reset', {
      before: (task) => prepareDirty(project, task),
      after: async (task, before, point) => {
        await project.reset(task);
        const { branch } = await project.prepare(task);
        expect([point, git(project.folder, 'log', '--format=%s', branch ?? '')]).toEqual([point, 'first']);
        expect([point, project.run(task, 'status', '--porcelain')]).toEqual([point, '']);
        await project.undo(task);
        expect([point, stateOf(project.worktree(task))]).toEqual([point, before]);
      },
    });
    expect(operations).toBeGreaterThan(8);
  });

  it('an undo is finished by the next one', async () => {
    await using project = await Project.open(newProject(path.join(area, 'undo operations')));
    const operations = await atEachOperation(project, 'undo', {
      before: async (task) => {
        const before = await prepareDirty(project, task);
        await project.remove(task);
        return before;
      },
      after: async (task, before, point) => {
        await project.undo(task).catch((error: unknown) => {
          // The last operation may have been the last there was to do.
          if (!String(error).includes('Nothing of')) throw error;
        });
        expect([point, stateOf(project.worktree(task))]).toEqual([point, before]);
      },
    });
    expect(operations).toBeGreaterThan(8);
  });
});

interface Around<T> {
  readonly before: (task: TaskId) => Promise<T>;
  readonly after: (task: TaskId, before: T, point: string) => Promise<void>;
}

/** One task for each operation, until there is one that is not reached. The last one that was. */
async function atEachOperation<T>(project: Project, act: WorkspaceAct, around: Around<T>): Promise<number> {
  let operation = 0;
  let reached = 0;
  let isDone = false;
  const stride = often({ short: 10, long: 6, variable: 'COPSE_STRIDE' });
  const problems: unknown[] = [];
  const run = async (): Promise<void> => {
    while (!isDone) {
      operation += stride;
      const kill = { operation };
      const task = await project.addTask();
      const before = await around.before(task);
      const { end, said } = await runWorker({ folder: project.folder, task, act, kill });
      expect(said.filter(({ says }) => says === 'error')).toEqual([]);
      if (end === 'SIGKILL') {
        reached = Math.max(reached, kill.operation);
        await around.after(task, before, `${act}, operation ${kill.operation}`).catch((problem: unknown) => {
          problems.push(problem);
        });
      } else isDone = true;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  if (problems.length > 0) throw new AggregateError(problems, problems.map(String).join('\n\n'));
  expectSound(project.folder);
  return reached;
}
