/** Texts whose next command was missing or wrong. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { answer, copse, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { commandsIn } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

function newWith(settings: string): string {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'copse.yml'), settings);
  return cwd;
}

/** The `PATH` of a machine that has git and no agent. */
function pathWithoutAgents(): string {
  const folder = path.join(area, 'git alone');
  mkdirSync(folder);
  symlinkSync(
    execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(),
    path.join(folder, 'git'),
  );
  return folder;
}

const AGENT = 'agents: { one: { command: "true" } }\n';

test('doctor says how to install the program of an agent, and marks a sandbox that an agent asks for', async () => {
  const cwd = newWith('agents: { a: { runtime: codex }, b: { command: "true", sandbox: runtime } }\n');
  const { stdout } = await copse(['doctor'], { cwd, env: { PATH: pathWithoutAgents() } });
  expect(stdout).toContain(
    '✗ agents     Agent a needs the program codex, which is not installed.\n  → npm install --global @openai/codex\n',
  );
  expect(stdout).toMatch(
    /✗ agents {5}The agent b asks for the sandbox runtime.*\n {2}→ (?:npm|apt|brew) install /,
  );
  expect(stdout).toMatch(
    /✗ sandbox {4}agents cannot use "sandbox: runtime".*\n {2}→ (?:npm|apt|brew) install /,
  );
  expect(stdout).toMatch(/– docker/);
});

test('status says how to list the paused and the pending tasks', async () => {
  const cwd = newWith(AGENT);
  const [{ id }] = await newTasks(['a'], { cwd });
  await printed(['add', 'b', '--depends', id], { cwd });
  await answer(['work', id], { cwd });
  await printed(['pause', id], { cwd });
  const status = await printed(['status'], { cwd });
  expect(status).toContain(
    'Pending tasks: copse list --status pending\nPaused tasks: copse list --status paused\n',
  );
});

test('a task that a person put down can be continued by hand too, when there is an agent', async () => {
  const cwd = newWith(AGENT);
  const [{ id }] = await newTasks(['a'], { cwd });
  await answer(['work', id], { cwd });
  const steps = [`copse resume ${id}`, `copse work ${id} --resume`, `copse cancel ${id}`];
  expect(commandsIn(await printed(['pause', id], { cwd }))).toEqual(steps);
  const why = await printed(['why', id], { cwd });
  expect(commandsIn(why)).toEqual(steps);
  expect(why).toContain(`\n    To give it up:\n  → copse cancel ${id}\n`);
});

test('each command for finished work has a label, and so has the way back from the queue', async () => {
  const cwd = newWith(`${AGENT}landing: { policy: review }\n`);
  const [{ id }] = await newTasks(['a'], { cwd });
  const { worktree } = await answer<{ worktree: string }>(['work', id], { cwd });
  expect(worktree).toContain(id);
  execFileSync('git', ['commit', '--quiet', '--allow-empty', '--message', 'feat: it'], { cwd: worktree });
  await printed(['finish', id], { cwd });
  const labelled = [
    `    To look at it and decide:\n  → copse review ${id}\n`,
    `    To land it without a review:\n  → copse merge ${id}\n`,
    `    To let its agent continue:\n  → copse resume ${id}\n`,
  ].join('');
  expect(await printed(['why', id], { cwd })).toContain(labelled);
  await printed(['review', id, '--approve'], { cwd });
  await printed(['queue', 'cancel', id], { cwd });
  expect(await printed(['why', id], { cwd })).toContain('    It left the queue: a person took it out.\n');
});

test('worktrees call none active whose task is paused', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['a'], { cwd });
  await answer(['work', id], { cwd });
  expect(await printed(['worktrees'], { cwd })).toContain(`${id} ACTIVE`);
  await printed(['pause', id], { cwd });
  expect(await printed(['worktrees'], { cwd })).toContain(`${id} IDLE`);
});

test('cleanup of a task that a person works on says that it is paused, and how to go on', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['a'], { cwd });
  await answer(['work', id], { cwd });
  const text = await printed(['cleanup', id], { cwd });
  expect(text).toContain(`${id} is paused now. To go on with it: copse work ${id}`);
  await answer(['work', id], { cwd });
});

test('a ready task is refused by the verb of the command, and a review says that it is not finished', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['a'], { cwd });
  const { stderr } = await copse(['queue', 'retry', id], { cwd });
  expect(stderr).toContain(`Cannot retry ${id} in the queue: it is ready.`);
  const review = await printed(['review', id], { cwd });
  expect(review).toContain('Nothing to review yet: it is ready.');
  expect(commandsIn(review)).toEqual([`copse why ${id}`]);
});

test('why of a task without an agent names one command to get one', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['a'], { cwd });
  const why = await printed(['why', id], { cwd });
  expect(why).toContain('No agent can take it: no agent is installed or configured.\n');
  expect(why).toContain('  → copse agents detect\n');
  expect(why).not.toContain('copse agents\n');
});

test('orchestrate --dry-run does not say that agents run when none does', async () => {
  const cwd = newWith(`${AGENT}policy: { max_agents: 1 }\n`);
  await newTasks(['a', 'b'], { cwd });
  const plan = await printed(['orchestrate', '--dry-run'], { cwd });
  expect(plan).toContain('Waits its turn: at most 1 agent runs here at once (policy.max_agents).');
  expect(plan).not.toContain('running');
});

test('an import into a board with tasks says which board takes it', async () => {
  const cwd = newRepository(area);
  await newTasks(['a'], { cwd });
  const exported = await printed(['export'], { cwd });
  const { stderr } = await copse(['import', '-'], { cwd, stdin: exported });
  expect(stderr).toContain('is not empty');
  expect(stderr).not.toContain('copse export --help');
  expect(stderr).toContain('Import it in a new clone, whose board is empty.');
});

test('no details of a help break a line that the terminal would wrap', async () => {
  const help = await printed(['watch', '--help'], { cwd: area });
  expect(help).not.toMatch(/(?:tasks and|without)\n/);
});
