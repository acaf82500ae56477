/** An orchestrator that a person starts replaces its process by one that uses less memory. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect, test } from 'vitest';

import { cliFile, finished, newArea, plainEnv } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

test.runIf(process.platform === 'linux')(
  'an orchestrator gives young objects little memory and returns what it frees, and its agents inherit nothing of that',
  async () => {
    const scene = newScene(area);
    await scene.add('look', 'env > "$NOTES"; commit one one.txt');
    const { folder: cwd } = scene;
    const child = spawn(process.execPath, [cliFile, 'orchestrate', '--until-idle'], { cwd, env: plainEnv });
    const end = finished(child);
    const commandLine = () => readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0');
    while (child.exitCode === null && !commandLine().includes('--max-semi-space-size=2')) await sleep(5);
    const settings = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0');
    expect(settings.filter((one) => one.startsWith('MALLOC_')).toSorted()).toEqual([
      'MALLOC_ARENA_MAX=01',
      'MALLOC_MMAP_THRESHOLD_=16385',
    ]);
    expect(commandLine().slice(-4)).toEqual([cliFile, 'orchestrate', '--until-idle', '']);
    expect(await end).toMatchObject({ code: 0, stderr: '' });
    expect(await scene.statuses()).toEqual({ look: 'done' });
    expect(readFileSync(scene.notes, 'utf8')).not.toMatch(/MALLOC_|semi-space/);
  },
);

test.runIf(process.platform !== 'win32')(
  'an orchestrator that cannot replace its process runs as it is',
  async () => {
    const { folder: cwd } = newScene(area);
    const elsewhere = `data:text/javascript,process.execPath='/nowhere'`;
    const argv = ['--import', elsewhere, cliFile, 'orchestrate', '--until-idle'];
    expect(await finished(spawn(process.execPath, argv, { cwd, env: plainEnv }))).toMatchObject({ code: 0 });
  },
);
