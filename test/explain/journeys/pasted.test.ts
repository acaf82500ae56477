/** Next commands that were refused, missing or about another task: each is run as it was printed. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { answer, copse, git, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { commandsIn } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Runs a printed command of Copse, without quoted words. */
async function paste(command: string, cwd: string): Promise<string> {
  expect(command).toMatch(/^copse [^'"]+$/);
  return printed(command.split(' ').slice(1), { cwd });
}

async function finished(cwd: string, id: string, file?: string): Promise<void> {
  const { worktree } = await answer<{ worktree: string }>(['work', id], { cwd });
  if (file !== undefined) writeFileSync(path.join(worktree, file), `${id}\n`);
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: work');
  await answer(['finish', id], { cwd });
}

test('without a commit, add and why name the commit, and the worktree only after it', async () => {
  const cwd = path.join(area, 'no commit yet');
  git(area, 'init', '--quiet', '--initial-branch=main', cwd);
  const added = await printed(['add', 'First'], { cwd });
  const [, id = ''] = /^Added \[ \] (\S+)/.exec(added) ?? [];
  const commit = 'git commit --allow-empty --message="First commit"';
  for (const text of [added, await printed(['why', id], { cwd })]) {
    expect(text).toContain('The repository has no commit, and a worktree starts from one.');
    expect(commandsIn(text)).toContain(commit);
    expect(commandsIn(text)).not.toContain(`copse work ${id}`);
  }
  git(cwd, 'commit', '--quiet', '--allow-empty', '--message=First commit');
  const why = await printed(['why', id], { cwd });
  expect(why).not.toContain('no commit');
  expect(commandsIn(why)).toContain(`copse work ${id}`);
  await paste(`copse work ${id}`, cwd);
});

test('a failed task that is ready again is continued in its worktree', async () => {
  const scene = newScene(area, { policy: { max_retries: 0 } });
  const id = await scene.add('fails', 'exit 9');
  await scene.up();
  const commands = commandsIn(await printed(['restart', id], scene.at));
  expect(commands).toContain(`copse work ${id} --resume`);
  await paste(`copse work ${id} --resume`, scene.folder);
});

test('a failed task of orchestrate --command is restarted with the command as its agent', async () => {
  const cwd = newRepository(area);
  const [{ id }] = await newTasks(['fails'], { cwd });
  const argv = ['orchestrate', '--command', 'exit 9', '--until-idle', '--max-retries', '1'];
  const { stdout } = await copse(argv, { cwd });
  expect(stdout).toContain(`→ copse restart ${id} --command 'exit 9'`);
  const why = await printed(['why', id], { cwd });
  expect(why).toContain('To start it again, with a command as its agent:\n');
  expect(commandsIn(why)[0]).toBe(`copse restart ${id} --command "…"`);
});

test('cleanup names the command for each worktree that it kept because of its work', async () => {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'copse.yml'), 'landing: { policy: none }\n');
  const [{ id }] = await newTasks(['stays'], { cwd });
  await finished(cwd, id, 'work.txt');
  const kept = await printed(['cleanup'], { cwd });
  expect(kept).toContain('It has 1 unmerged commit. A removal keeps commits on the branch');
  const [, remove = ''] = /Remove it: (.+)$/m.exec(kept) ?? [];
  const named = await copse(['cleanup', id], { cwd });
  expect(named.stderr).toContain(
    `copse: Not removed: the worktree of ${id} needs a confirmation. It has 1 un`,
  );
  expect(commandsIn(named.stderr)).toEqual([remove]);
  expect(await paste(remove, cwd)).toContain('Removed ');
  expect(git(cwd, 'branch', '--list', `${id}/*`)).toContain(id);
});

test('a review offers no approval of nothing, and sends work by hand to no agent', async () => {
  const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  const empty = await scene.add('empty', 'true');
  await scene.up();
  const nothing = commandsIn(await printed(['review', empty], scene.at));
  expect(nothing).toEqual(commandsIn(await scene.why(empty)));
  expect(nothing).not.toContainEqual(expect.stringContaining('--approve'));

  const [{ id }] = await newTasks(['by hand'], scene.at);
  await finished(scene.folder, id, 'hand.txt');
  const commands = commandsIn(await printed(['review', id], scene.at));
  const head = git(scene.folder, 'rev-parse', `refs/heads/${id}/by-hand`).slice(0, 10);
  expect(commands).toEqual([`copse review ${id} --approve --head ${head}`, `copse work ${id} --resume`]);
  const { stderr } = await copse(['review', id, '--send-back', 'more'], scene.at);
  expect(stderr).toContain(`Cannot send ${id} back: a person worked on it, not an agent.\n`);
});

test('the end of a pause of another queue is of that queue', async () => {
  const cwd = newRepository(area);
  git(cwd, 'branch', 'next');
  const paused = await printed(['queue', 'pause', '--target', 'next'], { cwd });
  expect(commandsIn(paused)).toEqual(['copse queue resume --target next']);
  expect(await paste('copse queue resume --target next', cwd)).toContain('Resumed the queue of next');
});

test('the command for a landing that waits stands below its own line', async () => {
  const scene = newScene(area);
  const held = await scene.add('held', 'commit work shared.txt; copse finish');
  const asks = await scene.add('asks', 'copse stuck --reason "Which?"');
  writeFileSync(path.join(scene.folder, 'shared.txt'), 'mine\n');
  git(scene.folder, 'add', 'shared.txt');
  const lines = (await scene.up()).split('\n');
  const at = lines.findIndex((line) => line.includes(`landing ${held}`));
  expect(lines[at + 1]).toContain('→ git -C ');
  expect(lines.filter((line) => line.includes('stash push'))).toHaveLength(1);
  expect(lines.slice(at + 2).join('\n')).toContain(`stuck ${asks}`);
});

test('why names the broken convention once, with the commits', async () => {
  const scene = newScene(area, { sections: { finish: { commit_convention: 'require' } } });
  const id = await scene.add('talks', 'git commit --quiet --allow-empty --message="did it"; copse finish');
  await scene.up();
  const why = await scene.why(id);
  expect(why.match(/break the convention/g)).toHaveLength(1);
  expect(why).toMatch(/^ {6}[0-9a-f]{8} did it$/m);
  expect(await printed(['list'], scene.at)).toContain('Commit messages break the convention\n');
});

test('why of an agent that waits without a question names the command that reaches it', async () => {
  const scene = newScene(area);
  const id = await scene.add('waits', 'copse notify permission --message "May I?"; sleep 60');
  const orchestrating = scene.up('--once');
  await expect.poll(async () => scene.why(id), { timeout: 60_000 }).toContain('waits for permission');
  await orchestrating;
  const why = await scene.why(id);
  expect(why).toContain(`To answer it:\n  → copse pause ${id} && copse resume ${id} --message "…"\n`);
  await paste(`copse pause ${id}`, scene.folder);
});
