/** A page that was without a network for a minute while 5,000 tasks changed: how soon it shows the board as it is, and all of it. */

import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';

import type { Page } from 'playwright-core';

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { newBrowser, untilAtEvent, visit } from '../../browser/pages.ts';
import { filledRepository } from '../../commands.ts';
import { type Row, inMs } from '../../row.ts';
import { serve } from '../../serving.ts';

const MISSED = 5_000;
const IN_ONE_TRANSACTION = 50;
const GOAL_MS = 1_000;
/** Addresses of this machine alone. The browser says BEHIND, as the server asks of its clients, and connects to BEFORE. */
const [BEFORE, BEHIND] = ['127.0.0.1', '127.0.0.2'];

export const browserReconnect: Row = {
  name: 'browser-reconnect',
  timeoutMs: 300_000,
  async measure(bench) {
    const offlineMs = bench.isQuick ? 15_000 : 60_000;
    const repository = await filledRepository(bench, { ready: MISSED, done: 0 });
    const { board } = await openContext({ cwd: repository, env: process.env });
    const serving = await serve(bench, repository, BEHIND);
    const tunnel = new Tunnel(Number(new URL(serving.url).port));
    bench.atEnd(() => tunnel.cut());
    await tunnel.open();
    const browser = await newBrowser(bench, [`--host-resolver-rules=MAP ${BEHIND} ${BEFORE}`]);
    const page = await visit(browser, serving, '/board');
    await untilAtEvent(page, await board.lastEvent());

    const beganMs = performance.now();
    await page.context().setOffline(true);
    await tunnel.cut();
    await page.locator('[data-connection="away"]').waitFor();
    await renameAll(board);
    await page.waitForTimeout(Math.max(0, offlineMs - (performance.now() - beganMs)));
    const last = await board.lastEvent();
    await tunnel.open();
    const backMs = performance.now();
    await page.context().setOffline(false);
    await untilAtEvent(page, last);
    const tookMs = performance.now() - backMs;

    await page.getByLabel('Id or title').fill('Renamed while away');
    const found = await cardsFound(page);
    await Promise.all([board.close(), page.context().close()]);
    await serving.stop();
    return [
      {
        what: `a page that comes back to ${MISSED.toLocaleString('en')} missed events shows them`,
        measured: inMs(tookMs),
        against: `${Math.round(offlineMs / 1_000)} s without a network`,
        figure: tookMs,
        goal: { atMost: GOAL_MS, unit: 'ms' },
        limit: null,
        broken: found === MISSED ? undefined : `The page shows ${found} of the ${MISSED} changes.`,
      },
    ];
  },
};

/** The browser cuts no WebSocket when it is told to be offline, so the page comes through this, as through one of ssh. */
class Tunnel {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async open(): Promise<void> {
    this.#server = createServer((near) => {
      const far = connect(this.#port, BEHIND);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
    this.#server.listen(this.#port, BEFORE);
    await once(this.#server, 'listening');
  }

  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

async function renameAll(board: Board): Promise<void> {
  const tasks = await board.tasks({ order: 'urgent' });
  for (let from = 0; from < tasks.length; from += IN_ONE_TRANSACTION) {
    const events = tasks.slice(from, from + IN_ONE_TRANSACTION).map(({ id }, index) => ({
      type: 'task.edited' as const,
      id,
      at: timestamp(Date.now()),
      changes: { title: `Renamed while away, number ${from + index}` },
    }));
    await board.transact((change) => change.record({ kind: 'person', name: null }, events));
  }
}

/** As the heads of the columns count them, once the filter counts. */
async function cardsFound(page: Page): Promise<number> {
  await page.waitForURL(/q=Renamed/);
  const counts = await page.locator('section > h2 > span').allInnerTexts();
  return counts.reduce((sum, count) => sum + Number(count), 0);
}
