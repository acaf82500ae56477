/** Two clones on one board: what each node is, what it may take, and what people see of it. */

import { randomBytes } from 'node:crypto';

import { beforeAll, describe, expect, inject, it } from 'vitest';

import { openEngine } from '../../../packages/copse/src/board/open.ts';
import { asOrchestrator } from '../../../packages/copse/src/compose/board/who-runs.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';
import { type RunOptions, answer, copse, git, newArea, printed } from '../../support/cli.ts';

const area = newArea();
const url = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
const env = { COPSE_BOARD: url };
const HOUR = 3_600_000;

interface NodeAnswer {
  readonly id: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly drain: { readonly by: string } | null;
  readonly clockOffsetMs: number | null;
  readonly silentMs: number | null;
  readonly leftAt: string | null;
}

let [here, there]: [RunOptions, RunOptions] = [{ cwd: '' }, { cwd: '' }];

beforeAll(() => {
  [here, there] = [
    { cwd: newScene(area, { policy: { drain_within: '7m' } }).folder, env },
    { cwd: newScene(area).folder, env },
  ];
});

async function refused(...argv: readonly string[]): Promise<string> {
  const { code, stderr } = await copse(argv, here);
  expect({ argv, code, isRefused: code === 2 || code === 3 || code === 4 }).toMatchObject({
    isRefused: true,
  });
  return stderr;
}

async function add(title: string, ...options: readonly string[]): Promise<string> {
  return (await answer<{ id: string }>(['add', title, ...options], here)).id;
}

async function nodes(...options: readonly string[]): Promise<readonly NodeAnswer[]> {
  return (await answer<{ nodes: readonly NodeAnswer[] }>(['node', 'list', ...options], here)).nodes;
}

async function nodeEvents(): Promise<number> {
  const { stdout } = await copse(['events', '--json'], here);
  return stdout.split('\n').filter((line) => line.includes('"node.')).length;
}

/** As if the node had been silent for so long. */
async function silence(name: string, ms: number): Promise<void> {
  const { id } = await answer<NodeAnswer>(['node', 'show', name], here);
  const engine = await openEngine({ engine: 'postgres', url }, defaultPolicy.board);
  try {
    const seen_at = Date.now() - ms;
    await engine.db.updateTable('nodes').set({ seen_at }).where('id', '=', id).execute();
  } finally {
    await engine.close();
  }
}

describe('nodes of one board', () => {
  it('join with a name, labels and slots; one alone is named nowhere', async () => {
    expect(await printed(['node', 'list'], here)).toContain('No node has joined this board.');
    await printed(['up', '--once', '--node-name', 'build-1', '--labels', 'GPU,big', '--slots', '3'], here);
    const [node] = await nodes();
    expect(node).toMatchObject({ name: 'build-1', labels: ['gpu', 'big'], slots: 3, drain: null });
    expect(node?.silentMs).toBeLessThan(60_000);
    expect(Math.abs(node?.clockOffsetMs ?? Infinity)).toBeLessThan(5_000);
    expect((await copse(['doctor'], here)).stdout).not.toContain('build-1');
    const [first] = (await printed(['node', 'list'], here)).split('\n');
    expect(first).toMatch(
      /^build-1 {2}0\/3 busy {4}no orchestrator runs, heard from \d+ \S+ ago \(this machine\)$/,
    );
    await asOrchestrator(here.cwd, async () =>
      expect(await printed(['node', 'list'], here)).toContain('takes work, heard from '),
    );
  });

  it('are written again only when something changed', async () => {
    const before = await nodeEvents();
    await printed(['up', '--once', '--slots', '3'], here);
    expect(await nodeEvents()).toBe(before);
    await printed(['up', '--once'], here);
    expect(await nodeEvents()).toBe(before + 1);
    expect(await nodes()).toMatchObject([{ name: 'build-1', labels: ['gpu', 'big'], slots: 4 }]);
  });

  it('have names of their own', async () => {
    const taken = await copse(['up', '--once', '--node-name', 'build-1'], there);
    expect(taken.stderr).toContain('Another node has the name build-1');
    await printed(['up', '--once', '--node-name', 'other'], there);
    expect(await printed(['node', 'rename', 'other', 'build-2'], here)).toBe(
      'Node other is called build-2 now.\n',
    );
    expect((await nodes()).map(({ name }) => name)).toEqual(['build-1', 'build-2']);
    expect((await copse(['doctor'], here)).stdout).toMatch(/nodes +build-1 \(this machine\), build-2/);
  });

  it('are shown with all that they told', async () => {
    const shown = await printed(['node', 'show', 'BUILD-1'], here);
    for (const text of ['gpu, big', 'plain', 'agrees with the board’s server', 'no orchestrator runs'])
      expect(shown).toContain(text);
    expect(await refused('node', 'show', 'build-9')).toContain('The board has no node "build-9"');
  });
});

describe('a clone where no orchestrator runs', () => {
  it('names the nodes that start its tasks, instead of asking for an orchestrator', async () => {
    const person = { cwd: newScene(area).folder, env };
    const added = await printed(['add', 'From elsewhere'], person);
    expect(added).toContain('An orchestrator on build-1 or build-2 starts it');
    expect(added).not.toContain('copse orchestrate');
    expect(await printed(['status'], person)).toMatch(
      /No orchestrator is running here\. Nodes that take tasks: build-1, build-2\n[^]*Starts on build-1 or build-2 when an agent is free there/,
    );
    const { id } = await answer<{ id: string }>(['add', 'By hand'], person);
    const { worktree: cwd } = await answer<{ worktree: string }>(['work', id], person);
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message=feat: by hand');
    await printed(['finish'], { cwd, env });
    await printed(['queue', 'cancel', id], person);
    const again = await printed(['queue', 'retry', id], person);
    expect(again).toContain('An orchestrator on build-1 or build-2 lands it.');
    await printed(['queue', 'cancel', id], person);
    await answer(['cancel', id], person);
    const gpu = await printed(['add', 'Train', '--requires', 'gpu'], person);
    expect(gpu).toContain('An orchestrator on build-1 starts it');
    await silence('build-1', HOUR);
    await silence('build-2', HOUR);
    expect(await printed(['add', 'Later'], person)).toContain('No orchestrator is running here: start one');
    expect(await printed(['status'], person)).toContain('Start one: copse orchestrate');
    const open = await answer<{ tasks: readonly { id: string; status: string }[] }>(['list'], person);
    for (const { id, status } of open.tasks) if (status === 'ready') await answer(['cancel', id], person);
    for (const one of [here, there]) await printed(['up', '--once'], one);
  });
});

describe('a task that requires something of a node', () => {
  it('starts there, and says of each node what it lacks', async () => {
    const gpu = await add('Train', '--requires', 'gpu');
    expect(await printed(['why', gpu], here)).toContain('It is ready.');
    expect(await printed(['why', gpu], there)).toContain('node build-1 can take it');
    const quantum = await add('Factor', '--requires', 'quantum,gpu');
    expect(await printed(['why', quantum], here)).toContain(
      'No node can take it:\n      node build-1 lacks quantum\n      node build-2 lacks quantum, gpu',
    );
    await silence('build-1', 3 * HOUR);
    expect(await printed(['why', gpu], there)).toContain('node build-1 was not heard from for 3 h');
    expect(await printed(['node', 'list'], here)).toContain('not heard from for 3 h');
    for (const id of [gpu, quantum]) await answer(['cancel', id], here);
    await printed(['up', '--once'], here);
  });
});

describe('a task that a person moves', () => {
  it('is taken by that node only, until it leaves', async () => {
    const id = await add('Moved');
    expect(await printed(['move', id, '--to', 'build-2'], here)).toContain(`Node build-2 takes ${id} next.`);
    expect(await printed(['why', id], here)).toContain('Only node build-2 takes it');
    expect((await copse(['up', '--dry-run'], here)).stdout).toContain('Only node build-2 takes it');
    expect((await copse(['up', '--dry-run'], there)).stdout).toContain('would start');
    expect(await refused('move', id, '--to', 'build-2')).toContain('already waits for node build-2');
    await silence('build-2', HOUR);
    expect(await printed(['why', id], here)).toContain('It cannot go there now: node build-2 was not heard');
    await printed(['node', 'leave', 'build-2'], here);
    expect(await printed(['why', id], here)).toContain('It is ready.');
    await answer(['cancel', id], here);
  });

  it('does not go where it cannot run, with the reason', async () => {
    const id = await add('Stays', '--requires', 'gpu');
    const other = await add('Stays too');
    expect(await refused('move', id, '--to', 'build-2')).toContain('node build-2 left');
    await answer(['node', 'drain', 'build-1'], here);
    expect(await refused('move', id, '--to', 'build-1')).toContain('node build-1 is draining');
    await answer(['cancel', other], here);
    await printed(['up', '--once', '--node-name', 'build-2'], there);
    expect(await refused('move', id, '--to', 'build-2')).toContain('node build-2 lacks gpu');
    const plain = await add('Plain');
    await silence('build-2', HOUR);
    expect(await refused('move', plain, '--to', 'build-2')).toContain('not heard from for 60 min');
    await answer(['node', 'resume', 'build-1'], here);
    for (const one of [id, plain]) await answer(['cancel', one], here);
    expect(await refused('move', id, '--to', 'build-1')).toContain('it is cancelled');
  });
});

describe('a node that drains', () => {
  it('starts nothing until it is resumed', async () => {
    const id = await add('Later');
    expect(await printed(['node', 'drain', 'build-1', '--preview'], here)).toContain('Nothing would move');
    expect((await nodes())[0]?.drain).toBeNull();
    expect(await printed(['node', 'drain', 'build-1', '--within', '5m'], here)).toContain(
      'Node build-1 is draining: it takes no new work. No agent runs there.',
    );
    expect(await printed(['up', '--once'], here)).not.toContain('started');
    expect(await printed(['why', id], here)).toContain('This machine is draining and starts no new tasks.');
    expect(await printed(['node', 'list'], here)).toContain('drained');
    expect(await printed(['node', 'resume', 'build-1'], here)).toBe('Node build-1 takes work again.\n');
    expect(await refused('node', 'resume', 'build-1')).toContain('it is not draining');
    expect((await copse(['up', '--dry-run'], here)).stdout).toContain('would start');
    await answer(['cancel', id], here);
  });

  // setting: policy.drain_within
  it('does not leave while it takes work or has some', async () => {
    await printed(['up', '--once'], here);
    expect(await refused('node', 'leave', 'build-1')).toContain('while its orchestrator takes work');
    const id = await add('By hand');
    await answer(['work', id], here);
    expect(await printed(['node', 'list'], here)).toContain(`\n    runs ${id}\n`);
    expect(await printed(['node', 'drain', 'build-1', '--preview'], here)).toContain(
      'stays: a person works on it by hand',
    );
    expect(await refused('node', 'leave', 'build-1')).toContain(`it has ${id} in progress`);
    expect(await refused('move', id, '--to', 'build-1')).toContain('works on it by hand');
    await answer(['cancel', id], here);
    await answer(['node', 'drain', 'build-1'], here);
    expect(await printed(['events'], here)).toMatch(/is draining, within 7 min\n*$/);
    expect(await printed(['node', 'leave', 'build-1'], here)).toContain('Node build-1 left the board.');
    expect(await refused('node', 'leave', 'build-1')).toContain('it left the board');
    const left = (await nodes('--all')).flatMap(({ name, leftAt }) => (leftAt === null ? [] : [name]));
    expect(left).toContain('build-1');
  });
});
