/** A command that runs inside another program, as those of `copse watch` do, leaves no git behind in it. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { processesOf } from '../../support/agents/scripted-agents.ts';
import { answer, copse, git, newArea } from '../../support/cli.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

test('no command leaves a git behind, whether it succeeds or is refused', async () => {
  const at = newProject(area);
  const { task: id, worktree } = await taken('Task', at);
  const left: Record<string, readonly number[]> = { taken: processesOf(at.cwd) };
  const run = async (...argv: readonly string[]) => {
    const { code, stderr } = await copse(argv, at);
    left[`${argv.join(' ')}: ${code} ${stderr}`] = processesOf(at.cwd);
  };
  writeFileSync(path.join(worktree, 'new.txt'), 'new\n');
  for (const command of ['status', 'list', 'why', 'queue', 'worktrees', 'diff', 'sync', 'doctor', 'radar'])
    await run(command, ...(['why', 'diff', 'sync'].includes(command) ? [id] : []));
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: new');
  await run('merge', id);
  await run('finish', id);
  await run('merge', id);
  await run('undo', id);
  await run('tend');
  await run('board', 'rebuild');
  const { id: other } = await answer<{ id: string }>(['add', 'Other'], at);
  await run('work', other);
  await run('cleanup', other);
  // The branch landed, so that the gits of a landing were among them.
  expect(git(at.cwd, 'log', '-1', '--format=%s')).toBe('feat: new');
  expect(Object.entries(left).filter(([, pids]) => pids.length > 0)).toEqual([]);
});
