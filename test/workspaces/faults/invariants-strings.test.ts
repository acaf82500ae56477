/**
 * INVARIANT 27: no string that an agent or a title brought along reaches a shell, and refs come from Copse's ids. The one
 * place that starts a shell runs the lines of copse.yml, which a person wrote; what it is told besides is in variables.
 */

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { projectRoot } from '../../guards/working-copy.ts';
import { git, newArea } from '../../support/cli.ts';
import { must } from '../../support/records/tasks.ts';
import { newDirty, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;
const newPlace = () => path.join(area, `project ${(projects += 1)}`);

// promise: no-shell
it('INVARIANT 27: setup and teardown get the name of a work item as a variable, not as shell code', async () => {
  const marker = path.join(area, 'run');
  const title = `"; touch '${marker}'; $(touch '${marker}') \`touch '${marker}'\``;
  const folder = newProject(newPlace());
  const say = 'printf "%s\\\\n" "$COPSE_WORK_ITEM_TITLE" > said.log';
  writeFileSync(path.join(folder, 'copse.yml'), `workspace:\n  setup: ['${say}']\n  teardown: ['${say}']\n`);
  const project = await openForTest(folder);
  const workItem = { source: 'test', id: title, url: null };
  const { id: task } = must(await addTask(project.context, { title, workItem }));
  await project.prepare(task);
  expect(readFileSync(path.join(project.worktree(task), 'said.log'), 'utf8')).toBe(`${title}\n`);
  await project.remove(task);
  expect(existsSync(marker)).toBe(false);
});

// promise: no-shell
it('INVARIANT 27: a ref of Copse has only the task’s id, a time, a reason and an object’s id', async () => {
  const { project, task, worktree } = await newDirty(newPlace(), 'A title; with $(words) in it');
  await project.reset(task);
  await project.prepare(task);
  writeFileSync(path.join(worktree, 'mine.txt'), 'mine\n');
  await project.remove(task, { deleteBranch: true });
  const refs = git(project.folder, 'for-each-ref', '--format=%(refname)', 'refs/copse').split('\n');
  const rescue = new RegExp(`^refs/copse/rescue/${task}/\\d{8}T\\d{9}Z-(reset|removal)$`);
  const keep = new RegExp(`^refs/copse/keep/${task}/\\d+-[0-9a-f]{12}$`);
  expect(refs.filter((ref) => rescue.test(ref))).toHaveLength(2);
  expect(refs.filter((ref) => !rescue.test(ref) && !keep.test(ref))).toEqual([]);
});

it('INVARIANT 27: a rescue for an invalid task id is refused', async () => {
  const { project, worktree } = await newDirty(newPlace());
  const refs = () => git(project.folder, 'for-each-ref');
  const before = refs();
  for (const name of ['../../heads/main', 'x/../../../heads/main', '$(touch run)', '--stdin', '']) {
    const at = project.context.clock.now();
    const request = { task: brand<TaskId>(name), worktree, why: 'asked', at } as const;
    await expect(project.context.rescues.snapshot(request)).rejects.toThrow('is not the id of a task');
  }
  expect(refs()).toBe(before);
});

// promise: no-shell
it('INVARIANT 27: only commands of copse.yml reach a shell', () => {
  const sources = path.join(projectRoot, 'packages', 'copse', 'src');
  const starters = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      /['"`](\/bin\/)?(sh|bash|dash|zsh|cmd|cmd\.exe|powershell|env)['"`],\s*\[?\s*['"`]-?\/?c/.test(
        readFileSync(path.join(sources, file), 'utf8'),
      ),
  );
  const theirs = [
    'agents/runtimes/acp/runtime.ts',
    'agents/runtimes/command/runtime.ts',
    // The shell only sets a limit and becomes git; the command is in its arguments.
    'git/run/limits.ts',
    // Likewise: it enters a control group and becomes the agent's program.
    'processes/cgroup.ts',
    // The person's own PAGER.
    'processes/pager.ts',
    'processes/start/steps.ts',
    'queue/checks/commands.ts',
    // Asks for a program of a check by its name, which is an argument.
    'queue/checks/verdict.ts',
    'workspaces/files/commands.ts',
  ];
  expect(starters.toSorted()).toEqual(theirs.map((file) => path.normalize(file)));
});
