/** What `orchestrate` looks like: one steady screen on a terminal, plain lines anywhere else. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import { cliFile, newArea, plainEnv } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const TMUX_TMPDIR = path.join(area, 't');
mkdirSync(TMUX_TMPDIR);
const env = { ...plainEnv, TMUX_TMPDIR, TERM: 'screen-256color', LANG: 'C.UTF-8' };
const tmux = (...argv: readonly string[]) =>
  execFileSync('tmux', argv, { env, encoding: 'utf8', stdio: 'pipe' });

afterAll(() => {
  if (hasTmux) spawnSync('tmux', ['kill-server'], { env });
  endAgents(area);
});

const ESCAPE = '\u001b';
const LONG =
  '多言語 title that is much longer than any terminal of eighty columns has room for, to the very end';

/** In a terminal of a size, from which pictures can be taken. */
function onScreen(name: string, folder: string, [columns, rows]: readonly [number, number], variables = {}) {
  const set = Object.entries(variables).flatMap(([key, value]) => ['-e', `${key}=${String(value)}`]);
  const size = ['-x', String(columns), '-y', String(rows)];
  // The shell stays when the program has ended, so that its last words can be seen.
  const line = [
    'sh',
    '-c',
    'trap : INT; "$@"; echo "ended with $?"; sleep 600',
    'sh',
    process.execPath,
    cliFile,
    'up',
  ];
  tmux('-u', 'new-session', '-d', '-s', name, ...size, '-c', folder, ...set, ...line);
  return {
    picture: () => tmux('capture-pane', '-p', '-t', `${name}:`).trimEnd().split('\n'),
    coloured: () => tmux('capture-pane', '-p', '-e', '-t', `${name}:`),
    press: (key: string) => tmux('send-keys', '-t', `${name}:`, key),
    async until(look: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
      for (let looks = 0; looks < 300; looks += 1) {
        const lines = this.picture();
        if (look(lines)) return lines;
        await sleep(100);
      }
      return expect.fail(`It did not come about:\n${this.picture().join('\n')}`);
    },
  };
}

describe.skipIf(!hasTmux)('on a terminal', () => {
  test('lines scroll above a fixed part with each agent, its task and its duration', async () => {
    const scene = newScene(area, { policy: { max_agents: 3 } });
    const wait = 'while ! test -f "$NOTES.go"; do sleep 0.1; done';
    const long = await scene.add(LONG, `${wait}; commit long long.txt`, '--priority', 'p5');
    const short = await scene.add('short', `${wait}; commit short short.txt`, '--priority', 'p5');
    const asks = await scene.add('asks', 'copse stuck --reason "Which one?"');
    await scene.add('comes', 'commit comes comes.txt', '--depends', long);
    const screen = onScreen('steady', scene.folder, [80, 24]);
    const before = await screen.until(
      (lines) =>
        lines.some((line) => line.includes(`stuck       ${asks}`)) &&
        lines.some((line) => line.startsWith('1 needs you · 2 working · 1 pending')) &&
        lines.filter((line) => line.includes(' plain ')).length === 2,
    );
    const panel = before.slice(before.findIndex((line) => line.startsWith('── ')));
    expect(panel.filter((line) => line !== '')).toEqual([
      '── 2 of 3 running ── Ctrl+C leaves the agents running ──',
      '1 needs you · 2 working · 1 pending',
      'NEEDS YOU (1)',
      expect.stringMatching(new RegExp(`^\\? ${asks} +\\d+s asks$`)),
      '    Its agent asks for a decision: Which one?',
      expect.stringContaining(`    → copse restart ${asks}`),
      'WORKING (2)',
      expect.stringMatching(new RegExp(`^\\* ${long} +\\d+s plain 多言語 title .*…$`)),
      expect.stringMatching(new RegExp(`^\\* ${short} +\\d+s plain short$`)),
      'Pending tasks: copse list --status pending',
    ]);
    // Never wider than the terminal, and the steady part is there once.
    expect(before.filter((line) => line.startsWith('── '))).toHaveLength(1);
    expect(before.join('\n')).toContain(`started     ${long} 多言語 title`);
    expect(screen.coloured()).toContain(ESCAPE);
    writeFileSync(`${scene.notes}.go`, '');
    await screen.until(
      (lines) =>
        lines.some((line) => line.includes(' 0 of 3 running ')) &&
        lines.join('\n').split(' landed as ').length === 4,
    );
    screen.press('C-c');
    const after = await screen.until((lines) => lines.includes('ended with 0'));
    expect(after.some((line) => line.startsWith('── '))).toBe(false);
    expect(after.slice(-5)).toEqual([
      'Stopped.',
      expect.stringMatching(new RegExp(`^ {2}stuck ${asks} \\(\\d+s\\) asks$`)),
      '    Its agent asks for a decision: Which one?',
      expect.stringContaining(`    → copse restart ${asks}`),
      'ended with 0',
    ]);
  });

  test('that is small, with NO_COLOR, it shows as much as fits, and counts the rest', async () => {
    const scene = newScene(area, { policy: { max_agents: 4 } });
    await Promise.all(['one', 'two', 'three', 'four'].map((title) => scene.add(title, 'sleep 600')));
    const screen = onScreen('small', scene.folder, [60, 6], { NO_COLOR: '1' });
    const lines = await screen.until((all) => all.at(-2) === '4 working');
    expect(lines.filter((line) => line.startsWith('── 4 of 4 running ──'))).toHaveLength(1);
    await sleep(1_500);
    expect(screen.picture().filter((line) => line.startsWith('── '))).toHaveLength(1);
    expect(screen.coloured()).not.toContain(ESCAPE);
    screen.press('C-c');
    await screen.until((all) => all.some((line) => line.startsWith('Stopped. 4 agents keep running;')));
  });
});

describe('piped', () => {
  test('each line has the time, the event and its task', async () => {
    const scene = newScene(area);
    const id = await scene.add(LONG, 'commit piped piped.txt');
    const output = await scene.up();
    expect(output).not.toContain(ESCAPE);
    const shape = [
      `started     ${id} ${LONG} (plain)`,
      `finished    ${id} queued to land`,
      `done        ${id} landed as ${scene.git('rev-parse', '--short=10', 'main')}`,
    ];
    const lines = output.trimEnd().split('\n');
    expect(lines.slice(0, -1).map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual(shape);
    expect(lines.at(-1)).toBe('Idle: no task can start or land without you.');
  });
});
