/** Random lives of clients while the board is written to and the server is killed: each ends with exactly the board's events. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { closeAtEnd } from '../../support/close-at-end.ts';
import { finished, newArea, newRepository, plainEnv, startCopse } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import { newTask } from '../../support/records/tasks.ts';
import { type Door, RandomClient } from '../../support/server/random-client.ts';
import { drawing } from '../../support/workspaces/workspace-chance.ts';

const area = newArea();
const LIVES = often({ short: 12, long: 200, variable: 'COPSE_LIVES' });
const SEED = Number(process.env['COPSE_SEED'] ?? 1);
/** Each of them has one connection or two, and the server takes 256. */
const AT_ONCE = 100;
const TASKS = 40;
/** The server is killed after these. */
const KILLED_AFTER: ReadonlySet<number> = new Set([10, 28]);

async function serve(cwd: string, home: string, port: string) {
  const child = startCopse(['serve', '--port', port], { cwd, env: { HOME: home } });
  closeAtEnd(() => child.kill('SIGKILL'));
  const ended = finished(child);
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  while (!printed.includes('/api/v1/snapshot')) {
    if (child.exitCode !== null) throw new Error((await ended).stderr);
    await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  }
  const [, said = ''] = /:(\d+)\/api\/v1;/.exec(printed) ?? [];
  const header = readFileSync(path.join(home, '.cache/copse-serve', `127.0.0.1-${said}.header`), 'utf8');
  const [authorization = ''] = /Bearer \S+/.exec(header) ?? [];
  return { child, ended, port: said, door: { port: Number(said), authorization } };
}

// promise: server-events
test(`${LIVES} lives of clients, cut, slow and without a server for a while, end with the board's events`, async () => {
  for (let from = 0; from < LIVES; from += AT_ONCE) {
    const seed = SEED + from;
    const draw = drawing(seed);
    const cwd = newRepository(area);
    const home = mkdtempSync(path.join(area, 'home '));
    const { board } = await openContext({ cwd, env: plainEnv });
    closeAtEnd(() => board.close());
    let serving = await serve(cwd, home, '0');
    let door: ReturnType<Door> = serving.door;
    /** Known when the writer has stopped. */
    const end: { last?: number } = {};

    const clients = Array.from(
      { length: Math.min(AT_ONCE, LIVES - from) },
      (_, at) => new RandomClient(() => door, drawing(seed * 1_000 + at)),
    );
    const lives = clients.map((client) => client.live(() => end.last));
    for (let task = 0; task < TASKS; task += 1) {
      await newTask(board, { title: `Task ${task}` });
      await sleep(draw() * 40);
      if (!KILLED_AFTER.has(task)) continue;
      door = undefined;
      serving.child.kill('SIGKILL');
      await serving.ended;
      serving = await serve(cwd, home, serving.port);
      ({ door } = serving);
    }
    const last = await board.lastEvent();
    end.last = last;
    await Promise.all(lives);
    serving.child.kill('SIGTERM');
    await serving.ended;

    const all = Array.from({ length: last }, (_, at) => at + 1);
    for (const { began, numbers, what } of clients)
      expect({ seed, what, numbers }).toEqual({ seed, what, numbers: all.slice(began) });
  }
});
