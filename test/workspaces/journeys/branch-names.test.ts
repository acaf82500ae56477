/** A pattern can give two tasks the same branch name: no task goes on with the commits of another. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, git, newArea, printed } from '../../support/cli.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

// promise: task-branch-from-board
test.each(['removed', 'removed, and the task deleted'])(
  'the commits of a cancelled task do not enter the next one of the same name, its worktree %s',
  async (how) => {
    const at = newProject(area);
    writeFileSync(path.join(at.cwd, 'copse.yml'), 'workspace: {branch_pattern: "work/{slug}"}\n');
    const first = await taken('Same title', at);
    expect(first.branch).toBe('work/same-title');
    git(first.worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: unwanted');
    await printed(['cancel', first.task], at);
    await printed(['cleanup', first.task, '--force'], at);
    if (how.includes('deleted')) await printed(['delete', first.task], at);
    const second = await taken('Same title', at);
    expect(git(second.worktree, 'log', '--format=%s')).not.toContain('unwanted');
    expect(second.branch).toBe('work/same-title-2');
    // The same task goes on with its own.
    await printed(['cleanup', second.task, '--force'], at);
    expect(await answer(['work', second.task], at)).toMatchObject({ branch: 'work/same-title-2' });
    // And nothing of the first is lost.
    expect(git(at.cwd, 'log', '--format=%s', 'work/same-title')).toContain('unwanted');
  },
);
