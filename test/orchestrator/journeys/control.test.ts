/** What a person does to tasks that agents work on: looks, answers, stops, lets go on. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  answer,
  cliFile,
  copse,
  finished,
  newArea,
  plainEnv,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';

const area = newArea();
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
/** A server of tmux that is ours alone. */
const TMUX_TMPDIR = path.join(area, 't');
const tmux = (...argv: readonly string[]) =>
  execFileSync('tmux', argv, { env: { ...plainEnv, TMUX_TMPDIR }, encoding: 'utf8', stdio: 'pipe' });

afterAll(() => {
  if (hasTmux) spawnSync('tmux', ['kill-server'], { env: { ...plainEnv, TMUX_TMPDIR } });
  endAgents(area);
});

async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let looks = 0; looks < 400; looks += 1) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await sleep(100);
  }
  return expect.fail('It did not come about');
}

describe('while agents work', () => {
  let scene: Scene;
  let orchestrator: ReturnType<typeof startCopse>;
  let output: ReturnType<typeof finished>;
  const ids: Record<string, string> = {};
  const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);
  const noted = (word: string) => async () =>
    existsSync(scene.notes) && readFileSync(scene.notes, 'utf8').includes(word);
  const becomes = (title: string, status: string) =>
    until(async () => (await scene.tasks()).get(id(title))?.status === status);

  beforeAll(async () => {
    mkdirSync(TMUX_TMPDIR);
    const agents = { plain: {}, screened: { capabilities: ['tmux'], terminal: 'tmux' } };
    scene = newScene(area, { agents, policy: { max_agents: 5 } });
    const add = async (title: string, script: string, ...options: readonly string[]) => {
      ids[title] = await scene.add(title, script, ...options);
    };
    await Promise.all([
      add(
        'is paused',
        'if was_told "go on then"; then commit on on.txt; copse finish; else echo half > on.txt; copse phase working; note pausable; sleep 600; fi',
      ),
      add('is deleted', 'commit kept kept.txt; echo dirt > dirt.txt; note deletable; sleep 600'),
      add('is cancelled', 'echo dirt > dirt.txt; (setsid sleep 600 &); note cancellable; sleep 600'),
      add(
        'asks',
        'if was_told "Keep both"; then commit both both.txt; copse finish; else copse stuck --reason "Drop it, or keep both?"; fi',
      ),
      ...(hasTmux
        ? [
            add(
              'in tmux',
              'echo "hello from $(tty)"; note shown; read -r word; commit "$word" tmux.txt',
              '--requires',
              'tmux',
            ),
          ]
        : []),
    ]);
    orchestrator = startCopse(['orchestrate'], { ...scene.at, env: { TMUX_TMPDIR } });
    output = finished(orchestrator);
    for (const word of ['pausable', 'cancellable', 'deletable', ...(hasTmux ? ['shown'] : [])])
      await until(noted(word));
    await becomes('asks', 'stuck');
  });

  test('`delete` stops the agent, rescues its files and keeps the branch with its commits', async () => {
    const task = id('is deleted');
    const { process: running, workspace } = await answer<{
      process: { pid: number; isHere: boolean; isAlive: boolean };
      workspace: { worktree: string; branch: string };
    }>(['show', task], scene.at);
    expect(running).toMatchObject({ isHere: true, isAlive: true });
    const text = await printed(['delete', task, '--yes'], scene.at);
    expect(text).toContain(`Deleted ${task} is deleted\n    its agent was stopped\n    worktree `);
    expect(text).toMatch(/ {4}rescued as refs\/copse\/rescue\/\S+\n/);
    expect(text).toContain(
      `    branch ${workspace.branch} kept\n    To bring the worktree back: copse undo ${task} --worktree\n`,
    );
    expect(existsSync(workspace.worktree)).toBe(false);
    await until(async () => !existsSync(`/proc/${running.pid}`));
    expect(scene.git('log', '-1', '--format=%s', workspace.branch)).toBe('feat: kept');
  });

  test('`list` and `agents` name the agent of each task', async () => {
    const { running } = await answer<{ running: readonly Record<string, unknown>[] }>(['agents'], scene.at);
    expect(running.find(({ task }) => task === id('is paused'))).toMatchObject({
      agent: 'plain',
      isHere: true,
      phase: 'working',
      runner: 'alive',
      crashes: 0,
    });
    expect(await printed(['list'], scene.at)).toMatch(
      new RegExp(`\\[\\*\\] ${id('is paused')} IN_PROGRESS \\(\\d+s\\) is paused {2}plain · working\\n`),
    );
    expect((await scene.tasks()).get(id('is paused'))?.worker).toMatchObject({
      agent: 'plain',
      isByHand: false,
    });
    expect(await scene.why(id('is paused'))).toMatch(
      /^ {4}Agent "plain" has been working on it for \d+ s on this machine, in phase working\.$/m,
    );
  });

  // setting: agents.<name>.terminal
  test.skipIf(!hasTmux)('an agent in tmux has a terminal to join, and its log too', async () => {
    const at = { ...scene.at, env: { TMUX_TMPDIR } };
    const name = `copse-${id('in tmux')}`;
    expect(tmux('list-sessions', '-F', '#{session_name}').trim()).toBe(name);
    expect(await printed(['logs', id('in tmux')], at)).toMatch(/^hello from \/dev\/\S+\r?\n/);
    // No terminal here that it could be shown in.
    const { code, stderr } = await copse(['attach', id('in tmux')], at);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('copse attach needs a terminal.'),
    });
    const other = await copse(['attach', id('is paused')], at);
    expect(other).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has no terminal: agent plain does not run in tmux'),
    });
    // In a terminal of another tmux server.
    const asPerson = ['env', 'TMUX=/none/other,1,0', process.execPath, cliFile, 'attach', id('in tmux')];
    tmux('new-session', '-d', '-s', 'person', '-x', '80', '-y', '24', '-c', scene.folder, ...asPerson);
    await until(async () => tmux('list-clients', '-t', `=${name}`).trim() !== '');
    tmux('send-keys', '-t', 'person:', 'typed', 'Enter');
    await becomes('in tmux', 'done');
    expect(scene.subjects()).toContain('feat: typed');
  });

  test('a question is answered by `restart`, and the agent gets the answer', async () => {
    expect(await scene.why(id('asks'))).toContain('Its agent asks for a decision: Drop it, or keep both?');
    expect(await printed(['restart', id('asks'), '--answer', 'Keep both'], scene.at)).toContain(
      `Agent "plain" is working on it: copse logs ${id('asks')} --follow`,
    );
    await becomes('asks', 'done');
    expect(await refusedBy(['restart', id('asks')], scene.at)).toContain(
      `Cannot restart ${id('asks')}: it is done.`,
    );
  });

  test('a pause ends the agent and keeps the work; `resume` continues from it with a message', async () => {
    const paused = id('is paused');
    expect(await printed(['pause', paused], scene.at)).toBe(
      `Paused ${paused} is paused\n    Its worktree stays as it is.\n    To let its agent continue:\n  → copse resume ${paused}\n    To continue yourself (end with copse finish ${paused}):\n  → copse work ${paused} --resume\n    To give it up:\n  → copse cancel ${paused}\n`,
    );
    const again = await refusedBy(['pause', paused], scene.at);
    expect(again).toContain(`${paused} is already paused.`);
    expect(again).toContain(`copse resume ${paused}`);
    const { running } = await answer<{ running: readonly { task: string }[] }>(['agents'], scene.at);
    expect(running.map(({ task }) => task)).not.toContain(paused);
    expect(readFileSync(path.join(scene.folder, '.worktrees', paused, 'on.txt'), 'utf8')).toBe('half\n');
    await printed(['resume', paused, '--message', 'go on then'], scene.at);
    await becomes('is paused', 'done');
    expect(scene.subjects()).toContain('feat: on');
  });

  test('a cancelled task ends with every process it started, and its worktree stays', async () => {
    const cancelled = id('is cancelled');
    const { task, remaining } = await answer<{ task: { status: string; reason: string }; remaining: number }>(
      ['cancel', cancelled, '--reason', 'not needed'],
      scene.at,
    );
    expect({ ...task, remaining }).toMatchObject({ status: 'cancelled', reason: 'not needed', remaining: 0 });
    expect(readFileSync(path.join(scene.folder, '.worktrees', cancelled, 'dirt.txt'), 'utf8')).toBe('dirt\n');
    expect(await refusedBy(['resume', cancelled], scene.at)).toContain(': it is cancelled.');
    expect(await refusedBy(['cancel', cancelled], scene.at)).toContain(`${cancelled} is already cancelled.`);
    expect(await refusedBy(['work', cancelled], scene.at)).toContain(
      `Cannot work on ${cancelled}: it is cancelled.`,
    );
  });

  test('`logs --follow` shows new output until it is stopped, over several attempts', async () => {
    const chatty = await scene.add(
      'chatty',
      'test -f "$NOTES.second" || { echo first words; while ! test -f "$NOTES.second"; do sleep 0.1; done; exit 3; }; echo last words; commit c c.txt',
    );
    const follower = startCopse(['logs', chatty, '--follow'], scene.at);
    let seen = '';
    follower.stdout?.on('data', (text: Buffer) => (seen += text.toString()));
    await until(async () => seen.includes('first words'));
    writeFileSync(`${scene.notes}.second`, '');
    await until(async () => seen.includes('last words'));
    follower.kill('SIGINT');
    expect((await finished(follower)).code).toBe(0);
    expect(seen).toBe('first words\nlast words\n');
  });

  // promise: orchestrator-restart
  test('Ctrl+C leaves the agents running, and the next one picks them up', async () => {
    const slow = await scene.add(
      'slow',
      'note begun; while ! test -f "$NOTES.go"; do sleep 0.1; done; commit slow s.txt',
    );
    await until(noted('begun'));
    expect(await printed(['orchestrate', '--once'], scene.at)).toContain(
      'Ran once. 1 agent keeps running; another orchestrator here looks after it.\n',
    );
    const second = startCopse(['orchestrate'], scene.at);
    const beside = finished(second);
    await new Promise((resolve) => second.stdout?.once('data', resolve));
    second.kill('SIGINT');
    expect((await beside).stdout).toContain(
      `Another orchestrator runs here (process ${orchestrator.pid}). They share the work; when that one ends,`,
    );
    orchestrator.kill('SIGINT');
    const { code, stdout, stderr } = await output;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Orchestrator runs on node \S+\. Ctrl\+C stops it; agents go on\.\n/);
    expect(stdout).toContain('Stopped. 1 agent keeps running; `copse orchestrate` takes it over again.\n');
    expect((await scene.tasks()).get(slow)?.status).toBe('in_progress');
    writeFileSync(`${scene.notes}.go`, '');
    expect(await scene.up()).toContain(`done        ${slow} landed as `);
    expect((await scene.tasks()).get(slow)).toMatchObject({ status: 'done', retries: 0 });
  });
});
