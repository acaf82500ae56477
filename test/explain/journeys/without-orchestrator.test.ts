/** What people read while no orchestrator runs, and at its end. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import {
  answer,
  commitAsAgent,
  copse,
  newArea,
  newRepository,
  newTasks,
  printed,
} from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { commandsIn } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('an orchestrator that ends gives its leads back, and no view says that a task lands soon', async () => {
  const scene = newScene(area);
  await scene.add('first', 'commit one one.txt; copse finish');
  await scene.up();
  await printed(['queue', 'pause'], scene.at);
  const id = await scene.add('second', 'commit two two.txt; copse finish');
  await scene.up();
  await printed(['queue', 'resume'], scene.at);
  for (const command of [['why', id], ['status'], ['queue']]) {
    const text = await printed(command, scene.at);
    expect(text).not.toContain('within 5 s');
    expect(text).toContain('no orchestrator is running here');
  }
  await scene.merge(id);
});

test('a target that fails its own checks: each text names the check, and the approval of a task says that it waits', async () => {
  const scene = newScene(area, {
    sections: { landing: { policy: 'review', checks: { unit: 'test -f fixed.txt' } } },
  });
  const id = await scene.add('first', 'commit one one.txt; copse finish');
  await scene.up();
  expect(await printed(['review', id, '--approve'], scene.at)).toContain(`Approved ${id}`);
  const end = await scene.up();
  const red = 'check "unit" fails on main itself (exit code 1)';
  expect(end).toContain(red);
  expect(end).toContain('; repair main\n');
  const again = await printed(['review', id, '--approve'], scene.at);
  expect(again).toMatch(new RegExp(`^${id} is already in the queue of main at [0-9a-f]{10}\\.\n`));
  expect(again).toContain(`It waits: ${red}.`);
  expect(again).toContain('After you repair main:');
  expect(again).toContain(
    'If the check is wrong, after you change it in copse.yml:\n  → copse config accept\n',
  );
  const why = await scene.why(id);
  expect(why).toContain(`It waits: ${red}.`);
  expect(why).toMatch(/Full output: \/.+unit\.log/);
  for (const command of [['queue'], ['show', id], ['list'], ['status'], ['doctor']]) {
    const { stdout } = await copse(command, scene.at);
    expect([command, stdout]).toEqual([command, expect.stringContaining('fails on main itself')]);
  }
  const { stderr } = await copse(['merge', id], scene.at);
  expect(stderr).toContain(`${id} stays in the queue: ${red}.`);
  expect(stderr).toMatch(/Full output: \/.+unit\.log/);
  const config = path.join(scene.folder, 'copse.yml');
  writeFileSync(config, readFileSync(config, 'utf8').replace('test -f fixed.txt', 'test -f a.txt'));
  await printed(['config', 'accept', '--yes'], scene.at);
  expect(await scene.merge(id)).toContain(`Landed ${id}`);
});

test('a check whose program is missing is found to fail on main, also if main passed another command of that name', async () => {
  const scene = newScene(area, {
    policy: { max_retries: 0 },
    sections: { landing: { checks: { unit: 'test ! -f bad.txt' } } },
  });
  const bad = await scene.add('bad', 'was_told failed && exit 1; commit bad bad.txt; copse finish');
  await scene.up();
  expect((await scene.tasks()).get(bad)?.status).not.toBe('done');
  await answer(['cancel', bad], scene.at);
  const config = path.join(scene.folder, 'copse.yml');
  writeFileSync(config, readFileSync(config, 'utf8').replace('test ! -f bad.txt', './no-such-check'));
  await copse(['config', 'accept', '--yes'], scene.at);
  const id = await scene.add('good', 'commit good good.txt; copse finish');
  const end = await scene.up();
  expect(end).toContain('check "unit" fails on main itself (exit code 127: command not found)');
  expect((await scene.tasks()).get(id)?.status).toBe('landing');
});

test('texts about a paused queue name the pause and its end', async () => {
  const scene = newScene(area);
  await printed(['queue', 'pause', '--reason', 'release day'], scene.at);
  const accept = await printed(['queue', 'pause', '--accept'], scene.at);
  expect(accept).toContain('Landing stays paused.');
  expect(accept).not.toContain('still land');
  await printed(['queue', 'resume', '--accept'], scene.at);
  const id = await scene.add('waits', 'commit one one.txt; copse finish');
  const end = await scene.up();
  expect(end).toContain('→ copse queue resume\n');
  expect(end).not.toMatch(/stalled/);
  const retry = await printed(['queue', 'retry', id], scene.at);
  expect(retry).toContain('It waits: the queue is paused (release day).');
  expect(commandsIn(retry)).toEqual(['copse queue resume']);
  const front = await printed(['queue', 'front', id], scene.at);
  expect(front).toBe(`${id} goes to the front\n    Nothing else lands before it.\n`);
});

test('a program that is missing: another command is proposed, and no copse.yml that is not there', async () => {
  const at = { cwd: newRepository(area) };
  commitAsAgent(at.cwd);
  const [{ id }] = await newTasks(['one'], at);
  const { stdout } = await copse(['orchestrate', '--until-idle', '--command', './my-agent.sh'], at);
  expect(stdout).toContain(`→ copse restart ${id} --command "…"\n`);
  const why = await printed(['why', id], at);
  expect(why).toContain('Install it, or start the task again with another command.');
  expect(why).not.toContain('copse.yml');
  const answered = await copse(['answer', id, 'allow'], at);
  expect(answered.stderr).toContain(`${id} does not ask for permission: it is stuck.`);
});

test('a crashed task starts when an orchestrator runs, and without an agent that takes a command', async () => {
  const at = { cwd: newRepository(area) };
  commitAsAgent(at.cwd);
  const [{ id }] = await newTasks(['one'], at);
  await copse(['orchestrate', '--once', '--command', 'exit 9'], at);
  const status = async () => (await answer<{ status: string }>(['show', id], at)).status;
  await expect.poll(status, { timeout: 10_000 }).toBe('ready');
  expect(await printed(['status'], at)).toMatch(
    /Its last attempt crashed; it can start in \d+ s, when an orchestrator runs\./,
  );
  const why = await printed(['why', id], at);
  expect(why).toMatch(/; it can start in \d+ s, when an orchestrator runs\./);
  expect(commandsIn(why)).toContain('copse orchestrate --command "…"');
});

test('a merge of a task without commits proposes no agent that is not there', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['one'], at);
  await answer(['work', id], at);
  await answer(['pause', id], at);
  for (const command of [
    ['merge', id],
    ['queue', 'retry', id],
    ['review', id, '--approve'],
  ]) {
    const { code, stderr } = await copse(command, at);
    expect(code).not.toBe(0);
    expect([command, stderr]).toEqual([command, expect.not.stringMatching(/copse resume \S+(\n| #)/)]);
  }
});

test('a stuck agent that asks is answered by a restart', async () => {
  const scene = newScene(area);
  const id = await scene.add('asks', 'copse stuck --reason "which one?"');
  await scene.up();
  const { stderr } = await copse(['answer', id, 'allow'], scene.at);
  expect(stderr).toContain(`${id} does not ask for permission: its agent stopped with a question.`);
  expect(commandsIn(stderr)[0]).toBe(`copse restart ${id} --answer "…"`);
});
