/** Texts that said something untrue, twice or too little. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import {
  answer,
  copse,
  git,
  newArea,
  newRepository,
  newTasks,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { commandsIn, expectPasteable } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('why of a done task that stays on its branch shows how to look at it and how to merge it', async () => {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'copse.yml'), 'landing: { policy: none }\n');
  const [{ id }] = await newTasks(['it’s mine'], { cwd });
  const { worktree, branch } = await answer<{ worktree: string; branch: string }>(['work', id], { cwd });
  git(worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: x');
  await answer(['finish', id], { cwd });
  const why = await printed(['why', id], { cwd });
  const steps = await expectPasteable([why]);
  expect(steps).toEqual([`copse diff ${id}`, `git merge ${branch}`, `copse delete ${id}`]);
  git(cwd, 'merge', '--quiet', branch);
});

test('work that stays on its branch does not look landed, and keeps its merge until the branch is gone', async () => {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'copse.yml'), 'landing: { policy: none }\n');
  const [{ id }] = await newTasks(['stays'], { cwd });
  const { worktree, branch } = await answer<{ worktree: string; branch: string }>(['work', id], { cwd });
  writeFileSync(path.join(worktree, 'x.txt'), 'x\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: x');
  await answer(['finish', id], { cwd });
  const commit = git(worktree, 'rev-parse', 'HEAD').slice(0, 10);
  expect(await printed(['list'], { cwd })).toContain(`${commit} stays on its branch\n`);
  await printed(['cleanup', id, '--yes'], { cwd });
  const why = await printed(['why', id], { cwd });
  expect(commandsIn(why)).toEqual([`git merge ${branch}`, `copse delete ${id}`]);
  expect(await printed(['delete', id, '--yes'], { cwd })).toContain(
    `    branch ${branch} kept: 1 commit did not land\n`,
  );
  const [other] = await newTasks(['other'], { cwd });
  await answer(['work', other.id], { cwd });
  expect(await printed(['delete', other.id, '--yes'], { cwd })).not.toContain('did not land');
});

test('pause and cancel speak of a worktree only if the task has one', async () => {
  const cwd = newRepository(area);
  const [without, having] = await newTasks(['a', 'b'], { cwd });
  await answer(['work', having.id], { cwd });
  expect(await printed(['cancel', without.id], { cwd })).not.toContain('worktree');
  expect(await printed(['pause', having.id], { cwd })).toContain('Its worktree stays as it is.');
});

test('why of a failed task names its error once', async () => {
  const scene = newScene(area, { policy: { max_retries: 0 } });
  const id = await scene.add('fails', 'echo out; echo the cause >&2; exit 9');
  await scene.up();
  const why = await scene.why(id);
  expect(why).toMatch(/Failed/);
  const lines = why.split('\n').filter((line) => line.includes('exit code 9'));
  expect(lines).toHaveLength(1);
  expect(why.match(/the cause/g)).toHaveLength(1);
  const byHand = `copse work ${id} --resume`;
  expect(commandsIn(why)).toEqual([`copse restart ${id}`, byHand, `copse logs ${id}`, `copse cancel ${id}`]);
  // Nothing more comes: it does not wait.
  const { stdout, stderr } = await copse(['logs', id, '--follow'], scene.at);
  expect(stdout).toContain('the cause');
  expect(stderr).toContain(`The agent of ${id} has ended.`);
  const attach = await copse(['attach', id], scene.at);
  expect(commandsIn(attach.stderr)[0]).toBe(`copse logs ${id}`);
});

test('help states shows the whole command for a stuck task, and when the others work', async () => {
  const text = (await printed(['help', 'states'], { cwd: area })).replaceAll(/\s+/g, ' ');
  expect(text).toContain('Next: `copse restart <id> --answer "…"`, `copse cancel <id>`.');
  expect(text).toContain('`copse undo <id>` (if it landed)');
  expect(text).toContain('`copse merge <id>` (if it has commits)');
});

test('logs --follow says that there is no output yet', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['new'], { cwd });
  const following = startCopse(['logs', id, '--follow'], { cwd });
  const [said] = (await once(following.stderr ?? expect.fail('no stderr'), 'data')) as [Buffer];
  following.kill('SIGINT');
  await once(following, 'close');
  expect(said.toString()).toContain(`There is no output of ${id} yet; waiting for it (Ctrl+C ends).`);
});

test('doctor says which files with settings a person accepted', async () => {
  const cwd = newRepository(area);
  expect(await printed(['doctor'], { cwd })).toMatch(/settings +no copse\.yml: the defaults/);
  expect(await printed(['doctor'], { cwd: newWith(area) })).toMatch(/settings +accepted: copse\.yml/);
});

function newWith(folder: string): string {
  const cwd = newRepository(folder);
  writeFileSync(path.join(cwd, 'copse.yml'), '{}\n');
  return cwd;
}
