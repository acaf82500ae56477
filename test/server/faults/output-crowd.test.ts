/** Many pages, pages that do not read, and agents that put out more than any page can take. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { copse, newArea, newRepository, startCopse } from '../../support/cli.ts';
import { until } from '../../support/records/turns.ts';
import { OwnTmux, Page, TASK, hasTmux, newScene, tellRunning } from '../../support/server/output.ts';
import { ask } from '../../support/server/served.ts';

const area = newArea();
const PAGES = 50;

function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** `copse serve` as a process of its own, so that its memory is its own. */
async function serve(cwd: string) {
  const child = startCopse(['serve', '--port', '0'], {
    cwd,
    env: { USER: 'anna', TMUX_TMPDIR: process.env['TMUX_TMPDIR'] ?? '' },
  });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(() => /#code=\S+/.test(said));
  const port = Number(/:(\d+)\/api/.exec(said)?.[1]);
  const code = /#code=(\S+)/.exec(said)?.[1];
  const got = await fetch(`http://127.0.0.1:${port}/api/v1/enter`, {
    method: 'POST',
    body: JSON.stringify({ code }),
  });
  const { token } = (await got.json()) as { token: string };
  return { child, port, server: { keys: { token } }, said: () => said };
}

describe.skipIf(!hasTmux || process.platform !== 'linux')('an agent that floods its terminal', () => {
  const tmux = new OwnTmux(area);

  // promise: output-bounded
  test(`costs the server of ${PAGES} pages little memory; all are told each gap, also those that did not read`, async () => {
    const cwd = newRepository(area);
    await copse(['list'], { cwd });
    await tellRunning(cwd, 'aaaa');
    tmux.start(
      TASK,
      'echo ready; read -r _; timeout 8 yes "$(seq 1 20 | tr "\\n" " ")"; echo over; exec cat',
    );
    const served = await serve(cwd);
    try {
      const pages = await Promise.all(
        Array.from({ length: PAGES }, () => Page.open(served, '&view=terminal')),
      );
      for (const page of pages) await page.until(({ shown }) => shown.includes('ready'));
      expect(tmux.controlClients(TASK)).toBe(1);
      const before = memoryOf(served.child.pid);
      const deaf = pages.slice(0, 5);
      const reading = pages.slice(5);
      for (const { socket } of deaf) socket.pause();
      tmux.run('send-keys', '-t', `copse-${TASK}:`, 'Enter');
      let most = 0;
      while (reading.some((page) => !page.endsWith('over'))) {
        const { exitCode, signalCode, pid } = served.child;
        expect({ exitCode, signalCode, said: served.said() }).toMatchObject({
          exitCode: null,
          signalCode: null,
        });
        expect(reading.find(({ closed }) => closed !== undefined)?.told).toBeUndefined();
        most = Math.max(most, memoryOf(pid));
        await sleep(100);
      }
      for (const { socket } of deaf) socket.resume();
      for (const page of deaf) await page.until((one) => one.closed !== undefined || one.endsWith('over'));
      expect(reading.map(({ jumps, closed }) => [jumps, closed])).toEqual(reading.map(() => [0, undefined]));
      expect(reading.every((page) => page.of('gap').length > 0)).toBe(true);
      expect(deaf.map(({ jumps }) => jumps)).toEqual(deaf.map(() => 0));
      expect(most - before).toBeLessThan(80);
    } finally {
      served.child.kill('SIGTERM');
    }
    await until(() => tmux.controlClients(TASK) === 0);
  });

  // promise: output-bounded
  test('is not read beyond a number of sessions and pages; each refusal says so', async () => {
    await using scene = await newScene(area, { terminals: { pages: 2, sources: 1, lingerMs: 10 } });
    await tellRunning(scene.cwd, 'bbbb');
    for (const task of [TASK, 'cp-bbbb']) tmux.start(task, 'echo ready; exec cat');
    const page = await Page.open(scene.served, '&view=terminal');
    await page.until(({ shown }) => shown.includes('ready'));
    const other = await Page.open(scene.served, '&view=terminal', 'cp-bbbb');
    await other.until(({ closed }) => closed?.code === 4004);
    expect(other.told).toMatchObject([{ kind: 'refused', code: 'busy' }]);
    const second = await Page.open(scene.served, '&view=terminal');
    await second.until(({ shown }) => shown.includes('ready'));
    const third = await Page.open(scene.served, '&view=terminal');
    await third.until(({ closed }) => closed?.code === 4004);
    await Promise.all([page.leave(), second.leave()]);
    await until(() => tmux.controlClients(TASK) === 0);
    const again = await Page.open(scene.served, '&view=terminal', 'cp-bbbb');
    await again.until(({ shown }) => shown.includes('ready'));
  });
});

// promise: output-bounded
test('a page that does not read is dropped, and gets the rest from its offset on', async () => {
  const terminals = { logTailBytes: 2 ** 30, logBehindBytes: 2 ** 30 };
  await using scene = await newScene(area, { server: { slowMs: 300 }, terminals });
  const folder = path.join(scene.cwd, '.copse', 'logs', TASK);
  mkdirSync(folder, { recursive: true });
  const whole = Buffer.from(Array.from({ length: 2_000_000 }, (_, line) => `line ${line}\n`).join(''));
  writeFileSync(path.join(folder, 'at-aaaa.log'), whole);
  const page = await Page.open(scene.served, '&from=0');
  page.socket.pause();
  await until(async () => (await ask(scene.served, '/metrics')).body.includes('copse_slow_clients_total 1'));
  page.socket.resume();
  await page.until(({ closed }) => closed !== undefined);
  expect(page.at).toBeLessThan(whole.length);
  const outputs = [page.output];
  // On a busy machine a page that reads may be slow, too.
  for (let { at } = page; at < whole.length;) {
    const next = await Page.open(scene.served, `&from=${at}`);
    await next.until((one) => one.at === whole.length || one.closed !== undefined);
    outputs.push(next.output);
    expect(next.jumps).toBe(0);
    ({ at } = next);
  }
  expect(page.jumps).toBe(0);
  expect(Buffer.concat(outputs).equals(whole)).toBe(true);
});
