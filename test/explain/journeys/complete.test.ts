/** Texts that left something out: what an act does not do, and the command that goes on. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { answer, copse, git, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
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
  // While the worktree is being prepared, cleanup says that.
  await expect
    .poll(async () => (await copse(['cleanup', id], scene.at)).stderr, { timeout: 30_000 })
    .toContain(`    To stop its agent and remove its worktree:\n  → copse cleanup ${id} --force\n`);
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

test('work on a pending task names the task that it waits for', async () => {
  const cwd = newRepository(area);
  const [first, other] = await newTasks(['First', 'Other'], { cwd });
  const after = async (...ids: readonly string[]) =>
    (await answer<{ id: string }>(['add', 'After', ...ids.flatMap((id) => ['--depends', id])], { cwd })).id;
  const id = await after(first.id);
  const { stderr } = await copse(['work', id], { cwd });
  expect(stderr).toContain(`copse: Cannot work on ${id}: it waits for ${first.id}.\n`);
  expect(stderr).toContain(`    To see why ${first.id} is not done:\n  → copse why ${first.id}\n`);
  const several = await after(first.id, other.id);
  expect((await copse(['work', several], { cwd })).stderr).toContain('it waits for other tasks.\n');
});

test('a question of a person who works by hand is not one of an agent', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['By hand'], { cwd });
  const { worktree } = await answer<{ worktree: string }>(['work', id], { cwd });
  await printed(['stuck', '--reason', 'Which one?'], { cwd: worktree });
  const texts = await Promise.all(
    [['why', id], ['status'], ['events']].map((argv) => printed(argv, { cwd })),
  );
  for (const text of texts) {
    expect(text).toMatch(/it needs a decision: Which one\?/i);
    expect(text).not.toContain('gent asks');
  }
  const steps = await expectPasteable(texts.slice(0, 1));
  expect(steps).toContain(`copse work ${id} --resume`);
  expect(texts[0]).toContain('To continue yourself:');
  await printed(['work', id, '--resume'], { cwd });
});

test('cleanup offers to bring back a worktree only if one was removed', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['None'], { cwd });
  const never = await copse(['cleanup', id, '--yes'], { cwd });
  expect(never.stderr).toContain(`${id} has no worktree here.`);
  expect(commandsIn(never.stderr)).toEqual(['copse worktrees']);
  await answer(['work', id], { cwd });
  await printed(['pause', id], { cwd });
  await printed(['cleanup', id, '--yes'], { cwd });
  const again = await copse(['cleanup', id, '--yes'], { cwd });
  expect(commandsIn(again.stderr)).toContain(`copse undo ${id} --worktree`);
  await printed(['undo', id, '--worktree'], { cwd });
});

test('why of a failed task names its commits, its output and the way by hand, which works', async () => {
  const scene = newScene(area, { policy: { max_retries: 0 } });
  const id = await scene.add('fails', 'commit one one.txt; commit two two.txt; exit 9');
  await scene.up();
  const why = await scene.why(id);
  expect(why).toContain(`Its branch has 2 commits. To see what it changes: copse diff ${id}\n`);
  const steps = ['diff', 'restart', 'work', 'logs', 'cancel'];
  expect((await expectPasteable([why])).map((command) => command.split(' ')[1])).toEqual(steps);
  expect(await printed(['diff', id], scene.at)).toContain('two.txt');
  const { worktree } = await answer<{ worktree: string }>(['work', id, '--resume'], scene.at);
  expect(await scene.why(id)).toContain('You work on it by hand.');
  writeFileSync(path.join(worktree, 'three.txt'), '3\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: three');
  await printed(['finish', id], scene.at);
  expect(await scene.merge(id)).toContain(`Landed ${id}`);
});

test('why of a stuck task offers the work by hand also where agents could take it', async () => {
  const scene = newScene(area);
  const id = await scene.add('asks', 'copse stuck --reason "Which?"');
  await scene.up();
  const commands = commandsIn(await scene.why(id));
  expect(commands.slice(0, 2)).toEqual([`copse restart ${id} --answer "…"`, `copse work ${id} --resume`]);
});

test('a silent check is named with its command, and why says how often its agent had it back', async () => {
  const scene = newScene(area, {
    policy: { handbacks: { checks: 2 } },
    sections: { landing: { checks: { unit: 'test ! -f bad.txt' } } },
  });
  const script = 'echo "$COPSE_ATTEMPT" > round.txt; commit bad bad.txt "$COPSE_ATTEMPT"; copse finish';
  const id = await scene.add('bad', script);
  await scene.up();
  const why = await scene.why(id);
  expect(why).toContain('Check "unit" failed (exit code 1; retried once) on main merged with this branch.');
  expect(why).toContain('The check printed nothing. Its command: test ! -f bad.txt');
  expect(why).toContain('It was already handed back to its agent 2 times because of that.');
});
