/** `copse inbox` against agents that write what they like, two people at once, and a person in a hurry. */

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { decideSession } from '../../../packages/copse/src/agents/rules/session/session.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { isRepeat } from '../../../packages/copse/src/explain/rules/inbox/answers.ts';
import { widthOfText } from '../../../packages/copse/src/cli/screen/screen.ts';
import { inReview, reviewed, stuck } from '../../support/agents/needs.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { answer, git, newArea, printed } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { typedInside } from '../../support/terminal-inside.ts';
import { newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
afterAll(() => endAgents(area));

describe('two people at once', () => {
  test('an answer that is held does not answer a later question of the same task', async () => {
    const scene = newScene(area, reviewed);
    const id = await stuck(scene, 'Asks twice', 'Drop the old table?');
    await inReview(scene, 'Other');
    const elsewhere = async () => {
      // Another person answers; the agent goes on and asks something else.
      const { worktree: cwd } = await answer<{ worktree: string }>(['work', id, '--resume'], scene.at);
      await answer(['stuck', '--reason', 'Drop all tables?'], { cwd });
      return 's';
    };
    const screen = await typedInside(['inbox'], scene.at, [
      ['Drop the old table?', 't'],
      ['Your answer to the agent:', 'Yes\r'],
      ['waits for your review', elsewhere],
      ['Drop all tables?', 'q'],
    ]);
    expect(screen).toContain(`${id} was answered elsewhere`);
    expect((await scene.tasks()).get(id)?.status).toBe('stuck');
    expect(screen).toContain('0 answered, 1 skipped. 2 tasks still need you.');
  });

  test('one deletes what the other is answering', async () => {
    const scene = newScene(area, reviewed);
    const id = await stuck(scene, 'Deleted', 'Which?');
    await inReview(scene, 'Other');
    const screen = await typedInside(['inbox'], scene.at, [
      ['Which?', 'c'],
      ['waits for your review', async () => (await answer(['delete', id, '--yes'], scene.at), 's')],
    ]);
    expect(screen).toContain(`${id} was answered elsewhere: it was deleted.`);
    expect(screen).toContain('0 answered, 1 skipped. 1 task still needs you.');
  });
});

describe('a person in a hurry', () => {
  test('a key that is held down answers one task', () => {
    const first = { key: 'a', atMs: 1_000 };
    expect(isRepeat(undefined, first)).toBe(false);
    expect(isRepeat(first, { key: 'a', atMs: 1_100 })).toBe(true);
    expect(isRepeat(first, { key: 'y', atMs: 1_100 })).toBe(false);
    expect(isRepeat(first, { key: 'a', atMs: 2_000 })).toBe(false);
  });

  test('a key typed before a task was shown does not approve it; u still takes the last answer back', async () => {
    const scene = newScene(area, reviewed);
    const [one, other] = [await inReview(scene, 'One'), await inReview(scene, 'Other')];
    const screen = await typedInside(['inbox'], scene.at, [
      [`${one} waits`, 'a'],
      [`${one}: approve, in 5 s`, 'a'],
      [`${other} waits`, 'u'],
      [`${one} waits`, 'c'],
      [`${one}: cancel the task, in 5 s`, 'u'],
      ['Taken back', ''],
      [`${one} waits`, 's'],
      [`${other} waits`, 'q'],
    ]);
    expect(screen).not.toContain('Done:');
    expect((await scene.tasks()).get(one)?.status).toBe('in_review');
    expect((await scene.tasks()).get(other)?.status).toBe('in_review');
  });

  test('Ctrl+C drops an answer that is held', async () => {
    const scene = newScene(area, reviewed);
    const id = await inReview(scene, 'One');
    const screen = await typedInside(['inbox'], scene.at, [
      [`${id} waits`, 'a'],
      ['u takes it back', '\u0003'],
    ]);
    expect(screen).toContain(`Taken back: ${id} still waits for you.`);
    expect((await scene.tasks()).get(id)?.status).toBe('in_review');
  });
});

describe('a hostile agent', () => {
  test('the command that adds a cancelled task again runs nothing of its title', async () => {
    const title = 'It\'s "$(touch pwned)" `touch pwned` $HOME \\';
    const scene = newScene(area, reviewed);
    const id = await stuck(scene, title, 'Which?');
    await inReview(scene, 'Other');
    const screen = await typedInside(['inbox'], scene.at, [
      [`${id} asks`, 'c'],
      ['waits for your review', 'w'],
      ['u undo', 'u'],
      ['stays cancelled', 'q'],
    ]);
    const [, words = ''] = /→ copse add (.*)$/m.exec(screen) ?? [];
    const { stdout } = spawnSync('bash', ['--norc', '-c', `printf %s ${words}`], {
      cwd: scene.folder,
      encoding: 'utf8',
    });
    expect(stdout).toBe(title);
    expect(existsSync(path.join(scene.folder, 'pwned'))).toBe(false);
  });

  test('one byte that is not UTF-8 does not hide its change', async () => {
    const scene = newScene(area, reviewed);
    const id = await inReview(scene, 'Bytes');
    const worktree = path.join(scene.folder, '.worktrees', id);
    writeFileSync(path.join(worktree, 'bytes.txt'), Buffer.from('caf\u00e9\n', 'latin1'));
    git(worktree, 'add', '--all');
    git(worktree, 'commit', '--quiet', '--message=feat: bytes');
    const screen = await typedInside(['inbox'], scene.at, [
      ['q quit', 'd'],
      ['q quit', 'q'],
    ]);
    expect(screen).not.toContain('no commits to show');
    expect(screen).toContain('+caf\ufffd');
  });

  test('no text of it begins a line of the terminal, and its length is told', async () => {
    const scene = newScene(area);
    const fake = 'cp-zzzz waits for your review (1m): Safe';
    const question = [
      'Which?',
      `${' '.repeat(76)}${fake}`,
      `${'\u00a0'.repeat(76)}${fake.replaceAll(' ', '\u00a0')}`.repeat(60),
      `${'\t'.repeat(12)}${fake}`,
      `${'\u0903'.repeat(200)}${fake}`,
    ];
    const id = await stuck(scene, 'Liar', question.join('\n'));
    const screen = await typedInside(['inbox'], scene.at, [['q quit', 'q']]);
    const about = screen.slice(screen.indexOf(id), screen.indexOf('t restart with'));
    const lines = about.trimEnd().split('\n');
    expect(lines.filter((line) => widthOfText(line) > 79 || line.includes('\t'))).toEqual([]);
    expect(lines.slice(1).filter((line) => !line.startsWith('    '))).toEqual([]);
    expect(lines.length).toBeLessThan(24);
    expect(about).toContain('more lines (w shows all)');
  });

  test('the name of a tool stays in its line, in every list', async () => {
    const project = await openForTest(newProject(path.join(area, 'tool')));
    const { context } = project;
    const agent = await startSession(project, await project.addTask('Asks'));
    const tool = 'Bash\ncp-zzzz waits for your review (1m): Safe';
    await change(context, async (change) => {
      const session = await change.require('session', agent.session);
      const question = { id: 'qu-1', tool, what: 'ls' };
      await change.apply(decideSession(session, { action: 'ask', question }, change.at));
    });
    for (const command of ['inbox', 'list', 'status', 'show', 'why', 'events']) {
      const words = ['show', 'why'].includes(command) ? [agent.task] : [];
      const text = await printed([command, ...words], { cwd: project.folder });
      expect(text).not.toMatch(/^\s*cp-zzzz/m);
      expect(text).toContain(agent.task);
    }
  });
});
