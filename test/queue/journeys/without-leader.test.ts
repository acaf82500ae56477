/** What people read about a queue while no process leads it, of work that they did by hand. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
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
