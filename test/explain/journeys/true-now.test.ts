/** What commands say about a task, an agent or a repository is true at that moment. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { commandsIn } from '../../support/pasted.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('worktrees: one that landed as a squashed commit is not called committed', async () => {
  const scene = newScene(area, { sections: { landing: { method: 'squash' } } });
  const id = await scene.add('Squashed', 'commit one 1.txt; commit two 2.txt');
  await scene.up();
  await printed(['undo', id, '--worktree'], scene.at);
  const listed = await printed(['worktrees'], scene.at);
  expect(listed).toContain(`${id} MERGED`);
  expect(listed).toContain(' · landed · ');
  expect(listed).not.toContain('ahead');
  // What was committed after the landing did not land.
  const worktree = path.join(scene.folder, '.worktrees', id);
  git(worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: more');
  expect(await printed(['worktrees'], scene.at)).toContain(`${id} COMMITTED`);
});

test('copse and status in a repository without a commit ask for one first', async () => {
  const cwd = path.join(area, 'no commit ü');
  mkdirSync(cwd);
  git(cwd, 'init', '--quiet', '--initial-branch=main');
  for (const argv of [[], ['status']]) {
    const said = await printed(argv, { cwd });
    expect(said).toMatch(/^This repository has no commit and no tasks yet\. To begin:\n\n +git commit /);
    expect(said).toContain('copse init');
  }
});

describe('an agent whose program is missing', () => {
  const gone = { gone: { command: ['./no-such.sh'] } };

  test('no ready task is said to start with it, and none is given to it', async () => {
    const scene = newScene(area, { agents: { ...gone, plain: { max: 1 } } });
    const only = (await answer<{ id: string }>(['add', 'Only gone', '--agent', 'gone'], scene.at)).id;
    const any = await scene.add('Any', 'commit any any.txt');
    const status = await printed(['status'], scene.at);
    expect(status).not.toContain('starts with gone');
    expect(status).toContain('No agent can take it: agent gone needs the program ./no-such.sh');
    expect(await scene.why(only)).toContain(
      'agent gone needs the program ./no-such.sh, which does not exist.',
    );
    await copse(['orchestrate', '--until-idle'], scene.at);
    expect(await scene.statuses()).toEqual({ 'Only gone': 'ready', Any: 'done' });
    expect(await scene.why(any)).toContain('Landed as');
  });

  test('a path that set-up commands may make is not missing', async () => {
    const agents = { made: { command: ['./no-such.sh'], workspace: { setup: ['true'] } } };
    const scene = newScene(area, { agents });
    await answer(['add', 'Made'], scene.at);
    expect(await printed(['status'], scene.at)).toContain('It starts with made');
  });

  test('a path that only the base has is not missing', async () => {
    const scene = newScene(area, { agents: { based: { command: ['./bin/agent'] } } });
    mkdirSync(path.join(scene.folder, 'bin'));
    writeFileSync(path.join(scene.folder, 'bin', 'agent'), '#!/bin/sh\n', { mode: 0o755 });
    scene.git('add', '--all');
    scene.git('commit', '--quiet', '--message=chore: agent');
    scene.git('checkout', '--quiet', '-b', 'other', 'HEAD~1');
    await answer(['add', 'Based'], scene.at);
    expect(await printed(['status'], scene.at)).toContain('It starts with based');
  });
});

describe('a deleted task', () => {
  test('why, show and undo say when and by whom, and what brings its work back', async () => {
    const scene = newScene(area);
    const id = await scene.add('Gone', 'true');
    await printed(['work', id], scene.at);
    await printed(['delete', id, '--yes'], { ...scene.at, env: { USER: 'ada' } });
    for (const command of ['why', 'show']) {
      const { code, stderr } = await copse([command, id], scene.at);
      expect(code).toBe(3);
      expect(stderr).toMatch(
        new RegExp(`${id} \\(Gone\\) was deleted on \\d{4}-\\d\\d-\\d\\d .* by ada\\.\n`),
      );
      expect(stderr).toContain(`→ copse undo ${id} --worktree`);
      expect(stderr).toContain(`→ copse events --task ${id}`);
    }
    await printed(['undo', id, '--worktree'], scene.at);
    const again = await copse(['undo', id, '--worktree'], scene.at);
    expect(again.stderr).toContain(`was deleted on `);
    expect(again.stderr).toContain(`→ copse cleanup ${id}`);
    expect(again.stderr).not.toContain('→ copse undo');
  });

  test('one that never had a worktree has nothing to bring back; one that never was is unknown', async () => {
    const scene = newScene(area);
    const id = await scene.add('Gone', 'true');
    await printed(['delete', id, '--yes'], scene.at);
    const { stderr } = await copse(['why', id], scene.at);
    expect(stderr).toContain('was deleted on ');
    expect(stderr).not.toContain('copse undo');
    expect((await copse(['why', 'cp-none'], scene.at)).stderr).toContain('The board has no task "cp-none".');
  });
});

test('an answer is shown beside its question, and an attempt after a crash is told of it', async () => {
  const scene = newScene(area);
  const id = await scene.add(
    'Ask',
    [
      'if grep --quiet Mauve AGENT_CONTEXT.md .copse/session-prompt.md; then',
      '  if [ -e "$NOTES.crashed" ]; then note told; commit ask ask.txt; else touch "$NOTES.crashed"; exit 7; fi',
      'elif [ -e "$NOTES.crashed" ]; then note untold; commit ask ask.txt',
      'else copse stuck --reason "Which colour?"; fi',
    ].join('\n'),
  );
  await scene.up();
  await printed(['restart', id, '--answer', 'Mauve, please'], scene.at);
  await scene.up();
  expect(await printed(['show', id], scene.at)).toMatch(
    /1\. stuck after .*\n {7}Which colour\?\n {7}answered: Mauve, please\n {4}2\. crashed/,
  );
  expect(readFileSync(scene.notes, 'utf8')).toBe('told\n');
});

test('status names the command that ends a pause of the queue', async () => {
  const scene = newScene(area);
  const id = await scene.add('Waits', 'commit w w.txt');
  await printed(['queue', 'pause', '--reason', 'release day'], scene.at);
  await copse(['orchestrate', '--once'], scene.at);
  await expect.poll(() => printed(['status'], scene.at), { timeout: 20_000 }).toContain('LANDING (1)');
  const status = await printed(['status'], scene.at);
  const line = 'The queue of main is paused. To land again: copse queue resume --target main';
  expect(status.split('\n')).toContain(line);
  await printed(['queue', 'resume', '--target', 'main'], scene.at);
  expect(await scene.merge(id)).toContain(`Landed ${id}`);
});

test('a conflict names its file in one line, and show tells a person nothing that is meant for the agent', async () => {
  const scene = newScene(area);
  const again = 'was_told conflicts';
  const first = await scene.add('First', `${again} || commit first a.txt first`);
  const other = await scene.add('Other', `${again} || commit other a.txt other`);
  await scene.up();
  const late = (await scene.statuses())['First'] === 'done' ? other : first;
  expect(await printed(['status'], scene.at)).toContain(`The branch of ${late} conflicts with main: a.txt\n`);
  expect(await printed(['list'], scene.at)).toContain(`The branch of ${late} conflicts with main: a.txt\n`);
  const shown = await printed(['show', late], scene.at);
  expect(shown).toContain(`The branch of ${late} conflicts with main:\n        a.txt\n`);
  const { needsYou } = await answer<{ needsYou: readonly { details: string }[] }>(['inbox'], scene.at);
  expect(needsYou.map(({ details }) => details)).toEqual([expect.not.stringContaining('copse sync')]);
  expect(shown).not.toContain('finish again');
});

test('a removed worktree is not said to have uncommitted files, and undo comes first', async () => {
  const scene = newScene(area, { policy: { handbacks: { dirty: 0 } } });
  const id = await scene.add('Dirty', 'echo x > dirty.txt');
  await scene.up();
  expect(await scene.why(id)).toContain('Its agent stopped with 1 uncommitted file: dirty.txt.');
  await printed(['cleanup', id, '--yes'], scene.at);
  const removed = 'Its worktree was removed. Copse rescued 1 uncommitted file: dirty.txt';
  for (const command of [['status'], ['list'], ['why', id], ['show', id]])
    expect([command, await printed(command, scene.at)]).toEqual([command, expect.stringContaining(removed)]);
  const why = await scene.why(id);
  expect(why).not.toContain('Commit what belongs');
  expect(commandsIn(why)[0]).toBe(`copse undo ${id} --worktree`);
  await printed(['undo', id, '--worktree'], scene.at);
  expect(await scene.why(id)).toContain('Its agent stopped with 1 uncommitted file: dirty.txt.');
});
