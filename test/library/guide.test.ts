/** The programs of the guide, run as another project would run them, with the built package. */

import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { endAgents, newScene } from '../support/agents/scripted-agents.ts';
import { answer, copse, finished, newArea, newRepository, startCopse } from '../support/cli.ts';
import { oneOfEach, tell } from '../support/records/stories.ts';
import { guidePrograms, newForeignProject, runProgram } from '../support/library/guide-programs.ts';

const area = newArea();
afterAll(() => endAgents(area));
let folder: string;

beforeAll(() => {
  const project = newForeignProject(area);
  ({ folder } = project);
  const own = fileURLToPath(new URL('../../packages/copse', import.meta.url));
  symlinkSync(own, path.join(project.modules, 'copse'));
});

test('the guide has three programs', () => {
  expect([...guidePrograms().keys()]).toEqual(['report.ts', 'add.ts', 'follow.ts']);
});

test('report.ts says what needs a person', async () => {
  const cwd = newRepository(area);
  await copse(['list'], { cwd });
  await tell(cwd, oneOfEach);
  const { code, stdout, stderr } = await runProgram(folder, ['report.ts', cwd]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^1 ready, 1 working, 1 done\n(cp-\w+ .+: .*\n  copse .*\n){2,}$/);
});

test('add.ts adds tasks, and prints why one cannot be restarted', async () => {
  const cwd = newRepository(area);
  const { code, stdout, stderr } = await runProgram(folder, ['add.ts', cwd]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^ready and pending\nwrong_status: Cannot restart cp-\w+: it is ready\.\n(  copse .*\n)+$/,
  );
  const { tasks } = await answer<{ tasks: readonly { title: string }[] }>(['list'], { cwd });
  expect(tasks.map(({ title }) => title)).toEqual(['Write the release notes', 'Send the release notes']);
});

test('follow.ts follows a task beside an orchestrator until it landed, and goes on from its cursor', async () => {
  const scene = newScene(area);
  const id = await scene.add('lands', 'commit first a.txt; copse finish');
  const cursor = path.join(folder, 'cursor.txt');
  const following = runProgram(folder, ['follow.ts', scene.folder, id, cursor]);
  const { code } = await finished(startCopse(['orchestrate', '--until-idle'], scene.at));
  expect(code).toBe(0);
  const first = await following;
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/^task.created by person\n(task\.\w+ by \w+\n)*task.done by node\ndone\n$/);
  expect(first.stdout.split('\n').filter((line) => line.startsWith('task.claimed'))).toHaveLength(1);
  // The second time it sees only what came after.
  const { id: other } = await answer<{ id: string }>(['add', 'Other'], scene.at);
  await copse(['cancel', other], scene.at);
  const second = await runProgram(folder, ['follow.ts', scene.folder, other, cursor]);
  expect(second.stdout).toBe('task.created by person\ntask.cancelled by person\ncancelled\n');
});

test('a program that closes what it opened ends, with iterations and calls under way', async () => {
  const program = `
    import { open } from 'copse';
    const copse = await open({ folder: process.argv[2] });
    const [waiting, unread] = [copse.events(), copse.events()];
    await copse.task.add({ title: 'One' });
    await Promise.all([waiting.next(), unread.next()]);
    const next = waiting.next();
    const calls = [copse.task.list(), copse.board.status(), copse.task.add({ title: 'Two' })];
    await copse.close();
    console.log((await next).done, (await Promise.all(calls)).length);
  `;
  writeFileSync(path.join(folder, 'close.ts'), program);
  const { code, stdout, stderr } = await runProgram(folder, ['close.ts', newRepository(area)]);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'true 3\n', stderr: '' });
});
