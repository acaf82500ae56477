/** A repository without a configured agent: no text names a command that is refused for want of one. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { shellQuoted } from '../../../packages/copse/src/kernel/shell.ts';
import {
  answer,
  copse,
  finished,
  git,
  newArea,
  newRepository,
  newTasks,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { commandsIn, expectPasteable } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** As a shell command: its path needs quotes. One task asks, the others get nothing done. */
function agentIn(cwd: string, asks: string): string {
  const folder = path.join(cwd, '.git', "it's");
  mkdirSync(folder);
  const program = path.join(folder, 'agent.sh');
  writeFileSync(program, `#!/bin/sh\n[ "$COPSE_TASK_ID" != ${asks} ] || copse stuck --reason "Which?"\n`);
  chmodSync(program, 0o755);
  return shellQuoted(program);
}

/** One task that asks, one that commits nothing; the last screen of the orchestrator that ran them. */
async function ran() {
  const at = { cwd: newRepository(area) };
  writeFileSync(
    path.join(at.cwd, 'copse.yml'),
    `policy: { poll_interval: 300ms, handbacks: { nothing_committed: 0 } }\n`,
  );
  const [asks, idle] = await newTasks(['asks', 'idle'], at);
  const command = agentIn(at.cwd, asks.id);
  const end = await copse(['orchestrate', '--command', command, '--until-idle'], at);
  return { at, command, asks: asks.id, idle: idle.id, end };
}

test('the end of orchestrate --command, why, status and refusals name only commands that work', async () => {
  const { at, command, asks, idle, end } = await ran();
  const ends = commandsIn(end.stdout);
  expect(ends.toSorted()).toEqual(
    [
      `copse restart ${asks} --answer "…" --command ${shellQuoted(command)}`,
      `copse resume ${idle} --command ${shellQuoted(command)}`,
    ].toSorted(),
  );

  const stuck = await printed(['why', asks], at);
  const status = await printed(['status'], at);
  const answering = `copse restart ${asks} --answer "…" --command "…"`;
  expect(commandsIn(stuck)).toEqual([answering, `copse work ${asks} --resume`, `copse cancel ${asks}`]);
  expect(status).toContain(`→ ${answering}`);
  expect(status).not.toContain('copse orchestrate');
  expect(status).toContain('No agent is installed or configured. Try: copse agents detect');

  const nothing = await printed(['why', idle], at);
  const unchanged = `copse work ${idle} --resume && copse finish ${idle} --no-changes`;
  expect(nothing).toContain(`    If there is nothing to change:\n  → ${unchanged}\n`);
  expect(nothing.match(/copse finish/g)).toHaveLength(2);
  const refusal = await copse(['finish', idle, '--no-changes'], at);
  expect(refusal.code).toBe(4);
  expect(commandsIn(refusal.stderr)).toEqual([
    `copse work ${idle} --resume`,
    `copse resume ${idle} --command "…"`,
    unchanged,
    `copse cancel ${idle}`,
  ]);

  const paused = await copse(['pause', asks], at);
  expect(paused.stderr).toContain(
    `Cannot pause ${asks}: its agent has already stopped with a question.\n    To answer it and start it again, with a command as its agent:\n  → ${answering}\n`,
  );
  const resume = await copse(['resume', asks], at);
  await expectPasteable([
    ...[end, refusal, paused, resume].flatMap(({ stdout, stderr }) => [stdout, stderr]),
    stuck,
    status,
    nothing,
  ]);

  // What they name is done.
  await answer(['work', idle, '--resume'], at);
  expect((await answer<{ task: { status: string } }>(['finish', idle, '--no-changes'], at)).task.status).toBe(
    'done',
  );
});

test('an agent of orchestrate --command that waits for a person is answered with a command that is not refused', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['waits'], at);
  const waits = 'copse notify idle --message "Which port?"; sleep 60';
  await copse(['orchestrate', '--command', waits, '--once'], at);
  const step = `copse pause ${id} && copse resume ${id} --message "…" --command "…"`;
  await expect
    .poll(async () => commandsIn(await printed(['why', id], at)), { timeout: 30_000, interval: 100 })
    .toContain(step);
  expect(await printed(['status'], at)).toContain(`    Waits for you: Which port?\n    → ${step}\n`);
  await answer(['pause', id], at);
  await answer(['resume', id, '--message', '8080', '--command', 'true'], at);
});

test('add and restart say that no agent can take the task, and not to start an orchestrator', async () => {
  const at = { cwd: newRepository(area) };
  const added = await printed(['add', 'x'], at);
  const status = await printed(['status'], at);
  expect(status.match(/no agent is installed or configured/gi)).toHaveLength(1);
  expect(added).toContain('No agent is installed or configured');
  const { id } = (await answer<{ tasks: readonly { id: string }[] }>(['list'], at)).tasks[0] ?? { id: '' };
  expect(commandsIn(added)).toEqual(['copse agents detect', `copse work ${id}`]);
  await expectPasteable([added]);
  expect((await copse(['agents', 'detect'], at)).code).toBe(0);
  const plan = await copse(['orchestrate', '--dry-run'], at);
  expect(commandsIn(plan.stderr)).toEqual([
    'copse agents detect',
    'copse orchestrate --dry-run --command "…"',
  ]);
  // An agent that is not accepted yet counts only after that.
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'agents: { mine: { command: "true" } }\n');
  const { stderr } = await copse(['orchestrate', '--once'], at);
  expect(stderr).toMatch(
    /\ncopse: No agent can start: Copse does not use the new or changed copse\.yml before you accept it\.\n {2}→ copse config accept\n$/,
  );
});

test('while an orchestrator runs with --command, its agent counts', async () => {
  const at = { cwd: newRepository(area) };
  const orchestrator = startCopse(['orchestrate', '--max-agents', '1', '--command', 'sleep 60'], at);
  const ended = finished(orchestrator);
  const started = 'Agents (0)\n    The running orchestrator was started with the agent command.\n';
  await expect.poll(() => printed(['agents'], at), { timeout: 60_000 }).toContain(started);
  const texts = [await printed(['add', 'runs'], at)];
  const [{ id }] = await newTasks(['waits'], at);
  texts.push(await printed(['why', id], at), await printed(['agents'], at));
  expect(texts[0]).toMatch(/A running orchestrator starts it within \d+ s, if an agent is free\./);
  expect(texts[2]).toContain(started);
  texts.push((await copse(['doctor'], at)).stdout);
  expect(texts[3]).toContain('agents     the running orchestrator was started with the agent command\n');
  const running = await expect
    .poll(async () => commandsIn((await copse(['why', id], at)).stdout), { timeout: 30_000, interval: 100 })
    .toEqual([`copse work ${id}`, `copse cancel ${id}`])
    .then(() => answer<{ tasks: readonly { id: string }[] }>(['list', '--status', 'in_progress'], at));
  const [{ id: paused }] = running.tasks as readonly [{ id: string }];
  const { nodes } = await answer<{ nodes: readonly [{ name: string }] }>(['node', 'list'], at);
  await answer(['node', 'drain', nodes[0].name], at);
  texts.push(await printed(['why', id], at));
  expect(texts[4]).toContain('This machine is draining and starts no new tasks.');
  await answer(['pause', paused], at);
  const resume = `copse resume ${paused} --command "…"`;
  expect(commandsIn(await printed(['why', paused], at))).toContain(resume);
  const refused = await copse(['resume', paused], at);
  expect(commandsIn(refused.stderr)).toContain(resume);
  for (const text of texts) expect(text).not.toMatch(/no agent is installed|agents detect/i);
  orchestrator.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('agents in a copse.yml that is not accepted: it is to be accepted, or corrected first', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['first'], at);
  const texts = async () => [
    (await copse(['add', 'next'], at)).stdout,
    (await copse(['why', id], at)).stdout,
    (await copse(['status'], at)).stdout,
    (await copse(['agents'], at)).stdout,
    (await copse(['doctor'], at)).stdout,
    (await copse(['restart', id], at)).stderr,
  ];
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'agents: { mine: { command: "true" } }\n');
  const [added = '', why = '', ...others] = await texts();
  for (const text of [added, why]) {
    expect(text).toContain('    The agents are in a copse.yml that you have not accepted.\n');
    expect(commandsIn(text)[0]).toBe('copse config accept');
  }
  for (const text of [added, why, ...others])
    expect(text).not.toMatch(/no agent is installed|agents detect/i);
  expect(others[2]).toContain('agents are in a copse.yml that you have not accepted');
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'agents: { mine: { comand: "true" } }\n');
  for (const text of (await texts()).slice(0, 2)) {
    expect(text).toContain('copse.yml that you have not accepted, and that has mistakes.\n');
    expect(commandsIn(text)[0]).toBe('copse config check');
  }
});

test('agents that cannot run here beside a copse.yml with mistakes: orchestrate names both', async () => {
  const at = { cwd: newRepository(area) };
  const file = path.join(at.cwd, 'copse.yml');
  writeFileSync(file, 'agents: { away: { command: "no-such-program-here x" } }\n');
  await copse(['list'], at);
  writeFileSync(file, 'agents: { away: { comand: "true" } }\n');
  const broken = await copse(['orchestrate', '--dry-run'], at);
  expect(broken.stderr).toContain(
    'copse: No agent can start: none of the agents in the accepted copse.yml can run here, and the new or changed copse.yml has mistakes.\n  → copse config check\n',
  );
  writeFileSync(file, 'agents: { away: { command: "true" } }\n');
  const changed = await copse(['orchestrate', '--dry-run'], at);
  expect(changed.stderr).toContain(
    'can run here, and Copse does not use the new or changed copse.yml before',
  );
  expect(commandsIn(changed.stderr).at(-1)).toBe('copse config accept');
});

test('agents that cannot run here are counted', async () => {
  const at = { cwd: newRepository(area) };
  const agents = 'agents: { here: { command: "true" }, away: { command: "no-such-program-here x" } }\n';
  writeFileSync(path.join(at.cwd, 'copse.yml'), agents);
  expect((await copse(['agents'], at)).stdout).toContain('Agents (1 of 2 can run here)\n');
});

test('a task that lacked a commit names the restart once there is one', async () => {
  const cwd = path.join(area, 'no commit');
  git(area, 'init', '--quiet', '--initial-branch=main', cwd);
  const [{ id }] = await newTasks(['first'], { cwd });
  await copse(['orchestrate', '--command', 'true', '--until-idle'], { cwd });
  const commit = 'git commit --allow-empty --message="First commit"';
  expect(await printed(['status'], { cwd })).toContain(`→ ${commit}`);
  expect(await printed(['why', id], { cwd })).toContain(`    To make the first commit:\n  → ${commit}\n`);
  git(cwd, 'commit', '--quiet', '--allow-empty', '--message=First commit');
  const now = `The repository had no commit; now it has one. Start ${id} again.`;
  const status = await printed(['status'], { cwd });
  const why = await printed(['why', id], { cwd });
  expect(await printed(['list'], { cwd })).toContain(now);
  expect(await printed(['show', id], { cwd })).toContain(now);
  for (const text of [status, why]) {
    expect(text).toContain(now);
    expect(text).toContain(`  → copse restart ${id}`);
    expect(text).not.toContain('git commit');
    expect(text).not.toContain('cannot start');
  }
});

test('an agent that may not take the task is named, with the ways around it', async () => {
  const at = { cwd: newRepository(area) };
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'agents: { mine: { command: "true" } }\n');
  const added = await printed(['add', 'x', '--requires', 'gpu'], at);
  expect(added).toContain('No agent can take it: agent mine lacks gpu');
  expect(added).not.toContain('copse orchestrate');
  await expectPasteable([added]);
  const status = await printed(['status'], at);
  expect(status).not.toContain('Nothing needs you');
  expect(status).toMatch(/No agent can take it: agent mine lacks gpu \(copse why cp-\w+\)/);
});
