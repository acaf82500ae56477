/** What people read about a queue while no process leads it, of work that they did by hand. */

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import {
  answer,
  copse,
  finished as processEnded,
  git,
  newArea,
  newRepository,
  newTasks,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { shellWord } from '../../../packages/copse/src/kernel/shell.ts';
import { commandsIn } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface At {
  readonly cwd: string;
}

async function commitIn(at: At, id: string, file: string): Promise<string> {
  const { worktree } = await answer<{ worktree: string }>(['work', id], at);
  commit(worktree, file);
  return worktree;
}

function commit(worktree: string, file: string): void {
  writeFileSync(path.join(worktree, file), `${file}\n`);
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', `--message=feat: ${file}`);
}

async function finished(at: At, title: string): Promise<{ readonly id: string; readonly worktree: string }> {
  const [{ id }] = await newTasks([title], at);
  const worktree = await commitIn(at, id, `${title}.txt`);
  await answer(['finish', id], at);
  return { id, worktree };
}

test('a queue whose landing is paused names no command that would land, and the command that ends the pause', async () => {
  const at = { cwd: newRepository(area) };
  const { id } = await finished(at, 'one');
  expect(await printed(['queue'], at)).toContain(`no orchestrator is running here: copse merge ${id}`);
  await printed(['queue', 'pause'], at);
  const paused = await printed(['queue'], at);
  expect(paused).toMatch(/PAUSED for \d+s: nothing lands\n {4}To land again:\n/);
  expect(paused).not.toContain('no orchestrator');
  expect(commandsIn(paused)).toEqual(['copse queue resume --target main']);
});

test('a queue that is closed lands what it has, and says when a task lands that joined later', async () => {
  const at = { cwd: newRepository(area) };
  expect(await printed(['queue', 'pause', '--accept', '--reason', 'freeze'], at)).toContain(
    '    Tasks in the queue still land. Tasks that join the queue now wait until copse queue resume.\n',
  );
  const { id } = await finished(at, 'one');
  const why = await printed(['why', id], at);
  expect(why).toContain(
    'It joined after the queue was closed to new tasks (freeze); it lands after the queue is resumed.',
  );
  expect(why).not.toContain('accepts no new tasks');
  const closed = await printed(['queue'], at);
  expect(closed).toContain('    To accept tasks again:\n');
  expect(closed).not.toContain('no orchestrator');
  expect((await copse(['queue', 'resume'], at)).code).toBe(0);
  expect(await printed(['queue'], at)).toContain(`no orchestrator is running here: copse merge ${id}`);
});

test('a commit that a person adds after copse finish lands too', async () => {
  const at = { cwd: newRepository(area) };
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'landing: { policy: auto }\n');
  await printed(['config', 'accept', '--yes'], at);
  const { id, worktree } = await finished(at, 'one');
  commit(worktree, 'two.txt');
  await answer(['merge', id], at);
  expect(git(at.cwd, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(
    expect.arrayContaining(['one.txt', 'two.txt']),
  );
});

test('a commit after an approval is named before and after the merge that it prevents', async () => {
  const at = { cwd: newRepository(area) };
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'landing: { policy: review }\n');
  await printed(['config', 'accept', '--yes'], at);
  const { id, worktree } = await finished(at, 'one');
  await printed(['review', id, '--approve'], at);
  const first = git(worktree, 'rev-parse', 'HEAD').slice(0, 10);
  commit(worktree, 'two.txt');
  const second = git(worktree, 'rev-parse', 'HEAD').slice(0, 10);
  const moved = `branch moved from ${first} to ${second} after its review, so it must be reviewed again.`;
  const why = await printed(['why', id], at);
  expect(why).toContain(`It does not land as it is. Its ${moved}`);
  expect(commandsIn(why)).toEqual([`copse review ${id}`, `copse cancel ${id}`]);
  const { stderr } = await copse(['merge', id], at);
  expect(stderr).toContain(`copse: ${id} is in review: its ${moved}\n`);
  expect(commandsIn(stderr)).toEqual([`copse review ${id}`]);
});

test('a landing that waited for changes of a person is offered as soon as they are stashed', async () => {
  const at = { cwd: newRepository(area) };
  writeFileSync(path.join(at.cwd, 'held.txt'), 'before\n');
  git(at.cwd, 'add', '--all');
  git(at.cwd, 'commit', '--quiet', '--message=chore: held');
  const { id } = await finished(at, 'held');
  writeFileSync(path.join(at.cwd, 'held.txt'), 'mine\n');
  expect((await copse(['merge', id], at)).stderr).toContain('has uncommitted changes in held.txt');
  const stash = `git -C ${shellWord(at.cwd)} stash push --include-untracked -- held.txt`;
  const steps = [stash, `copse merge ${id}`, `git -C ${shellWord(at.cwd)} stash pop`];
  const waits = await printed(['why', id], at);
  expect(commandsIn(waits)).toEqual([...steps, `copse cancel ${id}`]);
  expect(waits).toContain('    To get stashed changes back after it landed:\n');
  const queue = await printed(['queue'], at);
  expect(commandsIn(queue)).toEqual(steps);
  expect(queue).not.toContain('no orchestrator is running here');
  expect(await printed(['inbox'], at)).toContain(stash);

  git(at.cwd, 'stash', 'push', '--quiet', '--include-untracked', '--', 'held.txt');
  for (const command of [['status'], ['list'], ['inbox'], ['queue'], ['why', id], ['show', id]]) {
    const text = await printed(command, at);
    expect([command, text]).toEqual([command, expect.not.stringContaining('uncommitted changes')]);
    expect([command, text]).toEqual([command, expect.not.stringContaining('stash push')]);
  }
  expect(commandsIn(await printed(['why', id], at))).toEqual([`copse merge ${id}`, `copse cancel ${id}`]);
  expect(await printed(['queue'], at)).toContain(`no orchestrator is running here: copse merge ${id}`);
  expect((await copse(['merge', id], at)).code).toBe(0);
});

test('an ignored file in the way is still in the way', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['ignored'], at);
  await commitIn(at, id, 'ignored.txt');
  await answer(['finish', id], at);
  writeFileSync(path.join(at.cwd, '.git', 'info', 'exclude'), 'ignored.txt\n');
  writeFileSync(path.join(at.cwd, 'ignored.txt'), 'mine\n');
  expect((await copse(['merge', id], at)).stderr).toContain('has uncommitted changes in ignored.txt');
  expect(await printed(['why', id], at)).toContain('has uncommitted changes in ignored.txt');
});

test('the lead of a killed orchestrator is not believed', async () => {
  const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  const id = await scene.add('one', 'commit one one.txt');
  await scene.up();
  const orchestrator = startCopse(['orchestrate'], scene.at);
  const over = processEnded(orchestrator);
  const isLed = async () =>
    (await answer<{ queues: readonly { isLed: boolean }[] }>(['queue'], scene.at)).queues[0]?.isLed;
  // A landing that conflicts with an edit keeps the queue led.
  writeFileSync(path.join(scene.folder, 'one.txt'), 'mine\n');
  await printed(['queue', 'retry', id], scene.at);
  await expect.poll(isLed, { timeout: 20_000 }).toBe(true);
  orchestrator.kill('SIGKILL');
  await over;
  rmSync(path.join(scene.folder, 'one.txt'));
  for (const command of [['status'], ['list'], ['queue'], ['why', id]]) {
    const text = await printed(command, scene.at);
    expect([command, text]).toEqual([command, expect.not.stringContaining('within 5 s')]);
    expect([command, text]).toEqual([command, expect.stringContaining('no orchestrator is running here')]);
  }
  expect(await isLed()).toBe(false);
  expect((await copse(['merge', id], scene.at)).code).toBe(0);
});
