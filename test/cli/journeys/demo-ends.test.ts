/** How `copse demo` looks on a terminal, and how it ends when it is stopped or its agents cannot work. */

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import {
  type TaskDocument,
  answer,
  cliFile,
  copse,
  finished,
  newArea,
  plainEnv,
  startCopse,
} from '../../support/cli.ts';
import { processesAbout } from '../../support/processes-about.ts';

const area = newArea();

/** Gives a program a pseudo-terminal. */
const TERMINAL = 'script';
const hasScript =
  spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

test.skipIf(!hasScript)(
  'on a terminal of 80 columns no line is longer, and NO_COLOR is respected (needs script of util-linux)',
  async () => {
    const folder = path.join(area, "it's here; ü 林");
    mkdirSync(folder);
    const inside = `stty cols 80 rows 30; exec "$COPSE_NODE" "$COPSE_CLI" demo --speed 100 --dir "$COPSE_INTO"`;
    const env = {
      ...plainEnv,
      TERM: 'xterm',
      NO_COLOR: '1',
      SHELL: '/bin/sh',
      COPSE_NODE: process.execPath,
      COPSE_CLI: cliFile,
      COPSE_INTO: folder,
    };
    const { code, stdout } = await finished(
      spawn(TERMINAL, ['--quiet', '--return', '--command', inside, '/dev/null'], { cwd: area, env }),
    );
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/\u001b\[\d*m/);
    // The part that is drawn again and again.
    expect(stdout).toContain('of 4 running');
    const lines = stdout.replaceAll(/\u001b\[\d*[A-Z]/g, '').split(/\r*\n/);
    const paths = /林/;
    expect(lines.filter((line) => line.length > 80 && !paths.test(line))).toEqual([]);
    expect(processesAbout(folder)).toEqual([]);
  },
  120_000,
);

test('Ctrl+C ends the demo and its agents; --keep makes a new folder beside an existing one', async () => {
  const cwd = path.join(area, 'keep here');
  mkdirSync(path.join(cwd, 'copse-demo'), { recursive: true });
  // Slow, so that everybody is in the middle of something.
  const child = startCopse(['demo', '--keep', '--speed', '0.5'], { cwd });
  const ended = finished(child);
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (text: string) => text.includes('(dan)') && resolve());
  });
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  expect(code).toBe(1);
  expect(stderr).toContain('The demo was stopped and its agents were ended.');
  const folder = path.join(cwd, 'copse-demo-2');
  expect(readdirSync(cwd).toSorted()).toEqual(['copse-demo', 'copse-demo-2']);
  expect(readdirSync(path.join(cwd, 'copse-demo'))).toEqual([]);
  expect(processesAbout(folder)).toEqual([]);
  const { tasks } = await answer<{ tasks: TaskDocument[] }>(['list'], { cwd: folder });
  expect(tasks.filter(({ status }) => status === 'paused')).toHaveLength(4);
  expect(tasks.filter(({ status }) => status === 'in_progress')).toEqual([]);
}, 120_000);

test('a demo whose agents cannot work fails, says which tasks and keeps the folder', async () => {
  const programs = path.join(area, 'programs');
  mkdirSync(programs);
  writeFileSync(path.join(programs, 'sleep'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const env = { PATH: `${programs}${path.delimiter}${plainEnv['PATH']}` };
  const { code, stderr } = await copse(['demo', '--dir', 'broken', '--speed', '100'], { cwd: area, env });
  expect(code).toBe(1);
  expect(stderr).toContain('7 tasks of the demo did not finish');
  expect(stderr).toMatch(/cp-\w+ failed: .*exit code 1/);
  expect(stderr).toContain(path.join(area, 'broken'));
  expect(existsSync(path.join(area, 'broken', 'copse.yml'))).toBe(true);
}, 120_000);
