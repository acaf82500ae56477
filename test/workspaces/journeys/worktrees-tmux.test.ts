/** The worktree of an agent that works in tmux. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect, test } from 'vitest';

import { copseProcess, finished, newArea, plainEnv, startCopse } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
/** A server of tmux that is ours alone. */
const TMUX_TMPDIR = path.join(area, 't');

afterAll(() => {
  if (hasTmux) spawnSync('tmux', ['kill-server'], { env: { ...plainEnv, TMUX_TMPDIR } });
  endAgents(area);
});

test.skipIf(!hasTmux)(
  '`cleanup --force` ends the agent in its terminal, but no shell of a person',
  async () => {
    mkdirSync(TMUX_TMPDIR, { recursive: true });
    const scene = newScene(area, { agents: { screened: { terminal: 'tmux' } } });
    const at = { ...scene.at, env: { TMUX_TMPDIR } };
    const id = await scene.add('in tmux', 'note shown; sleep 600');
    const orchestrator = startCopse(['orchestrate'], at);
    const ended = finished(orchestrator);
    for (let look = 0; look < 400; look += 1) {
      if (existsSync(scene.notes) && readFileSync(scene.notes, 'utf8').includes('shown')) break;
      await sleep(50);
    }
    orchestrator.kill('SIGINT');
    await ended;

    const worktree = path.join(scene.folder, '.worktrees', id);
    const tmux = (...argv: readonly string[]) =>
      execFileSync('tmux', argv, { env: { ...plainEnv, TMUX_TMPDIR }, encoding: 'utf8' }).trim();
    // A person looks around in another window of the same session.
    const shell = tmux(
      'new-window',
      '-d',
      '-t',
      `=copse-${id}:`,
      '-c',
      worktree,
      '-P',
      '-F',
      '#{pane_pid}',
      'sleep 600',
    );
    const refused = await copseProcess(['cleanup', id, '--force'], at);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(`(pid ${shell})`);
    process.kill(Number(shell));
    for (let look = 0; look < 100 && existsSync(`/proc/${shell}`); look += 1) await sleep(20);

    const { code, stderr } = await copseProcess(['cleanup', id, '--force'], at);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(existsSync(worktree)).toBe(false);
    expect(
      spawnSync('tmux', ['has-session', '-t', `=copse-${id}`], { env: { ...plainEnv, TMUX_TMPDIR } }).status,
    ).not.toBe(0);
  },
);
