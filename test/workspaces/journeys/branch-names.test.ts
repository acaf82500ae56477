/** No task goes on with commits of another, whatever its branch pattern gives and whatever branches exist. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { type TaskDocument, answer, git, newArea, printed } from '../../support/cli.ts';
import { type WorkDocument, newItemTask, newProject } from '../../support/workspaces/worktrees.ts';

const area = newArea();

function projectByItem() {
  const at = newProject(area);
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'workspace: {branch_pattern: "work/{workItem}"}\n');
  return at;
}

// promise: task-branch-from-board
test.each(['removed', 'removed, and the task deleted'])(
  'the commits of a cancelled task do not enter the next one of the same name, its worktree %s',
  async (how) => {
    const at = projectByItem();
    const first = await answer<WorkDocument>(['work', await newItemTask(at, 'github', '12')], at);
    expect(first.branch).toBe('work/12');
    git(first.worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: unwanted');
    await printed(['cancel', first.task], at);
    await printed(['cleanup', first.task, '--force'], at);
    if (how.includes('deleted')) await printed(['delete', first.task, '--yes'], at);
    const second = await answer<WorkDocument>(['work', await newItemTask(at, 'linear', '12')], at);
    expect(git(second.worktree, 'log', '--format=%s')).not.toContain('unwanted');
    expect(second.branch).toBe('work/12-2');
    // The same task goes on with its own.
    await printed(['cleanup', second.task, '--force'], at);
    expect(await answer(['work', second.task], at)).toMatchObject({ branch: 'work/12-2' });
    // And nothing of the first is lost.
    expect(git(at.cwd, 'log', '--format=%s', 'work/12')).toContain('unwanted');
  },
);

// promise: task-branch-from-board
test('a task that gets the branch name of one that still works gets a branch of its own', async () => {
  const at = projectByItem();
  const first = await answer<WorkDocument>(['work', await newItemTask(at, 'github', '12')], at);
  git(first.worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: of the first');
  const second = await answer<WorkDocument>(['work', await newItemTask(at, 'linear', '12')], at);
  expect([first.branch, second.branch]).toEqual(['work/12', 'work/12-2']);
  expect(git(second.worktree, 'log', '--format=%s')).not.toContain('of the first');
});

// promise: task-branch-from-board
test('tasks of one branch name that begin at the same moment get branches of their own', async () => {
  const at = projectByItem();
  const tasks: string[] = [];
  for (const source of ['github', 'linear', 'gitlab']) tasks.push(await newItemTask(at, source, '12'));
  const works = await Promise.all(tasks.map((task) => answer<WorkDocument>(['work', task], at)));
  expect(works.map(({ branch }) => branch).toSorted()).toEqual(['work/12', 'work/12-2', 'work/12-3']);
});

// promise: task-branch-from-board
test.each(['here', 'on the remote'])('a branch of no task %s is not continued', async (where) => {
  const at = newProject(area);
  const { id } = await answer<TaskDocument>(['add', 'Same title'], at);
  const branch = `${id}/same-title`;
  const tree = git(at.cwd, 'rev-parse', 'HEAD^{tree}').trim();
  const foreign = git(at.cwd, 'commit-tree', tree, '-p', 'HEAD', '-m', 'unwanted').trim();
  git(at.cwd, 'branch', branch, foreign);
  if (where === 'on the remote') {
    const remote = `${at.cwd}-remote.git`;
    git(at.cwd, 'init', '--quiet', '--bare', remote);
    git(at.cwd, 'remote', 'add', 'origin', remote);
    git(at.cwd, 'push', '--quiet', 'origin', 'HEAD', branch);
    git(at.cwd, 'branch', '--quiet', '-D', branch);
    git(at.cwd, 'update-ref', '-d', `refs/remotes/origin/${branch}`);
  }
  const work = await answer<WorkDocument>(['work', id], at);
  expect(git(work.worktree, 'log', '--format=%s')).not.toContain('unwanted');
  expect(work.branch).toBe(`${branch}-2`);
  // Its own is continued.
  git(work.worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: mine');
  await printed(['cleanup', id, '--force'], at);
  const again = await answer<WorkDocument>(['work', id], at);
  expect(again.branch).toBe(`${branch}-2`);
  expect(git(again.worktree, 'log', '--format=%s')).toContain('mine');
});
