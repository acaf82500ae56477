/** What the queue looks like on a terminal while it moves, and anywhere else. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import { cliFile, finished, newArea, plainEnv, printed, startCopse } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

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
const CHECK = `while test -f "$HOLD"; do sleep 0.05; done
if test -f broken; then echo "expected 3 but got 4"; exit 1; fi
`;

/** In a terminal of a size, from which pictures can be taken. */
function onScreen(
  name: string,
  scene: Scene,
  argv: readonly string[],
  { columns = 80, rows = 24, variables = {} } = {},
) {
  const set = Object.entries(variables).flatMap(([key, value]) => ['-e', `${key}=${String(value)}`]);
  const size = ['-x', String(columns), '-y', String(rows)];
  const shell = 'trap : INT; "$@"; echo "ended with $?"; sleep 600';
  const line = ['sh', '-c', shell, 'sh', process.execPath, cliFile, ...argv];
  tmux('-u', 'new-session', '-d', '-s', name, ...size, '-c', scene.folder, ...set, ...line);
  return {
    picture: () => tmux('capture-pane', '-p', '-t', `${name}:`).trimEnd().split('\n'),
    coloured: () => tmux('capture-pane', '-p', '-e', '-t', `${name}:`),
    press: (key: string) => tmux('send-keys', '-t', `${name}:`, key),
    async until(look: (text: string) => boolean): Promise<string> {
      for (let looks = 0; looks < 300; looks += 1) {
        const text = this.picture().join('\n');
        if (look(text)) return text;
        await sleep(100);
      }
      return expect.fail(`It did not come about:\n${this.picture().join('\n')}`);
    },
  };
}

async function reviewed(scripts: readonly (readonly [title: string, script: string])[]) {
  const hold = path.join(area, `hold ${Math.random().toString(36).slice(2)}`);
  const checks = { test: { command: 'sh check.sh', env: { HOLD: hold } } };
  const scene = newScene(area, { sections: { landing: { policy: 'review', slots: 1, checks } } });
  writeFileSync(path.join(scene.folder, 'check.sh'), CHECK);
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: checks');
  const ids: string[] = [];
  for (const [title, script] of scripts) ids.push(await scene.add(title, script));
  await scene.up();
  return { scene, ids, hold };
}

const PLAIN = 'commit "$COPSE_TASK_ID" "$COPSE_TASK_ID.txt"';

describe.skipIf(!hasTmux)('on a terminal', () => {
  test('it shows each running check with its tasks, and each handback with its reason', async () => {
    const { scene, ids, hold } = await reviewed([
      ['good', PLAIN],
      ['bad', 'commit bad broken'],
    ]);
    const [good = '', bad = ''] = ids;
    const screen = onScreen('watch', scene, ['queue', '--watch']);
    await screen.until((text) => text.startsWith('main: the queue is empty'));
    writeFileSync(hold, '');
    await printed(['queue', 'retry', good, bad], scene.at);
    await screen.until((text) => text.includes('no orchestrator is running here: copse orchestrate'));
    const leader = startCopse(['orchestrate'], scene.at);
    const led = finished(leader);
    const busy = await screen.until((text) => text.includes('1 of 1 slots busy'));
    expect(busy).toMatch(new RegExp(`slot 1: +for \\d+s.* a batch of 2: ${good} and ${bad}`));
    expect(busy).toMatch(new RegExp(`^1 ${good} checking +\\d+s +being checked with ${bad}`, 'm'));
    expect(screen.coloured()).toContain(ESCAPE);
    rmSync(hold);
    const after = await screen.until(
      (text) => text.includes('main: the queue is empty') && text.includes('handed back'),
    );
    expect(after).toMatch(new RegExp(`^done +${good} landed as `, 'm'));
    expect(after).toMatch(
      new RegExp(`^handed back +${bad} Check "\\w+" failed \\(exit code \\d+; retried once\\)`, 'm'),
    );
    expect(after).toContain('expected 3 but got 4');
    for (const line of after.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    screen.press('C-c');
    const end = await screen.until((text) => text.includes('ended with 0'));
    // The last picture stays, without the words about how to leave it.
    expect(end).not.toContain('Ctrl+C');
    expect(end).toMatch(/main: the queue is empty\n.*\n {2}landed cp-/);
    leader.kill('SIGINT');
    await led;
  });

  test('`merge` shows the position, and Ctrl+C leaves it in the queue', async () => {
    const { scene, ids, hold } = await reviewed([['held', PLAIN]]);
    const [held = ''] = ids;
    writeFileSync(hold, '');
    const variables = { NO_COLOR: '1' };
    const screen = onScreen('merge', scene, ['merge', held], { columns: 50, rows: 8, variables });
    await screen.until((text) => text.includes('number 1: being checked'));
    expect(screen.picture()[0]).toMatch(new RegExp(`^> ${held} +\\d+s number 1: being checked$`));
    expect(screen.picture()[1]).toBe('── Ctrl+C leaves the tasks in the queue ──');
    expect(screen.coloured()).not.toContain(ESCAPE);
    screen.press('C-c');
    const end = await screen.until((text) => text.includes('ended with 4'));
    expect(end).toContain(`copse: ${held} stays in the queue:`);
    expect(end).not.toContain('number 1:');
  });
});

// setting: landing.slots
test('piped, --watch prints one view without colours', async () => {
  const { scene, ids } = await reviewed([['plain', PLAIN]]);
  await printed(['queue', 'retry', ...ids], scene.at);
  const picture = await printed(['queue', '--watch'], scene.at);
  expect(picture).not.toContain(ESCAPE);
  expect(picture.trimEnd().split('\n').slice(0, 1)).toEqual(['main: 1 in the queue · 0 of 1 slots busy']);
  expect(picture).toMatch(
    new RegExp(
      `^1 ${ids[0]} queued +\\d+s +waits: no orchestrator is running here \\(copse merge ${ids[0]} lands it now\\) · plain$`,
      'm',
    ),
  );
});
