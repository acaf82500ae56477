/** Texts that left something out: what an act does not do, and the command that goes on. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { copse, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { commandsIn, expectPasteable } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('edit of a running task says whether its agent gets the new text', async () => {
  const scene = newScene(area);
  const id = await scene.add('runs', 'sleep 60');
  const orchestrating = scene.up('--once');
  await expect.poll(async () => (await scene.statuses())['runs'], { timeout: 60_000 }).toBe('in_progress');
  await orchestrating;
  const edited = await printed(['edit', id, '--body', 'More to do'], scene.at);
  expect(edited).toContain('    Its agent plain still works with the old text.\n');
  expect(edited).toContain(
    `    To start it again with the new text:\n  → copse pause ${id} && copse resume ${id}\n`,
  );
  await expectPasteable([edited]);
  expect(await printed(['edit', id, '--priority', 'p5'], scene.at)).not.toContain('old text');
  const { stderr } = await copse(['cleanup', id], scene.at);
  expect(stderr).toContain(
    `    To stop its agent and remove its worktree:\n  → copse cleanup ${id} --force\n`,
  );
  await printed(['pause', id], scene.at);
});

test('status names a queue that accepts no tasks, and the command that ends that', async () => {
  const cwd = newRepository(area);
  await newTasks(['One'], { cwd });
  await printed(['queue', 'pause', '--accept'], { cwd });
  const resume = 'copse queue resume --target main';
  const closed = await printed([], { cwd });
  expect(closed).toContain(`The queue of main accepts no new tasks. To accept tasks again: ${resume}\n`);
  await printed(['queue', 'pause'], { cwd });
  expect(await printed([], { cwd })).toContain(`The queue of main is paused. To land again: ${resume}\n`);
  await printed(['queue', 'resume', '--target', 'main'], { cwd });
  expect(await printed([], { cwd })).not.toContain('The queue of main');
});
