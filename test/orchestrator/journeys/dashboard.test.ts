/** `copse orchestrate --dashboard`: a server beside the orchestrator, which ends with it. */

import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { closeAtEnd } from '../../support/close-at-end.ts';
import { copse, finished, newArea, newRepository, startCopse } from '../../support/cli.ts';

const area = newArea();

async function orchestrating() {
  const home = mkdtempSync(path.join(area, 'home '));
  const cwd = newRepository(area);
  const child = startCopse(['orchestrate', '--dashboard', '--command', 'true'], { cwd, env: { HOME: home } });
  closeAtEnd(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = finished(child);
  while (!printed.includes('/api/v1/snapshot')) {
    if (child.exitCode !== null) throw new Error((await ended).stderr);
    await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  }
  const [, url = '', code = ''] = /(http:\/\/\S+)\/#code=(\S+)$/m.exec(printed) ?? [];
  return { child, cwd, url, code, ended };
}

async function isServing(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

test.each(['SIGINT', 'SIGKILL'] as const)(
  'the dashboard shows the board, and ends with an orchestrator that gets %s',
  async (signal) => {
    const { child, cwd, url, code, ended } = await orchestrating();
    const body = JSON.stringify({ code });
    const entered = await fetch(`${url}/api/v1/enter`, { method: 'POST', body });
    const { token } = (await entered.json()) as { token: string };
    // No agent has this, so no runner outlives an orchestrator that is killed.
    await copse(['add', 'Shown', '--requires', 'gpu'], { cwd });
    const tasks = await fetch(`${url}/api/v1/snapshot`, { headers: { authorization: `Bearer ${token}` } });
    expect(await tasks.json()).toMatchObject({ tasks: [{ title: 'Shown' }] });
    child.kill(signal);
    const { code: exit } = await ended;
    expect(exit).toBe(signal === 'SIGINT' ? 0 : null);
    await expect.poll(() => isServing(url), { timeout: 20_000 }).toBe(false);
  },
);
