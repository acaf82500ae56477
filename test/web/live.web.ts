/** A page whose connection, server or tab does what they do in a day: nothing is lost, and nothing comes twice. */

import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { stuck } from '../support/agents/needs.ts';
import { endAgents, newScene as newAgents } from '../support/agents/scripted-agents.ts';
import { finished, newArea, newRepository, startCopse } from '../support/cli.ts';
import { openBrowser, openPage } from '../support/server/browser.ts';
import { TASK, newScene } from '../support/server/output.ts';
import { called, serveRepository } from '../support/server/served-repository.ts';
import type { Served } from '../support/server/served.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  endAgents(area);
});

const add = (served: Served, title: string) => called(served, 'POST /tasks', { body: { title } });
const isLive = (page: Page) => page.getByText(/^● live/).waitFor();

interface Wire {
  /** The sockets of the page that are open. */
  readonly open: ReadonlySet<WebSocketRoute>;
  opened: number;
  /** Changes what the server sends. */
  pass: (frame: string) => readonly string[];
}

/** Loads the page again, with its WebSockets led through the test. */
async function wireOf(page: Page): Promise<Wire> {
  const open = new Set<WebSocketRoute>();
  const wire: Wire = { open, opened: 0, pass: (frame) => [frame] };
  await page.routeWebSocket('**/api/v1/stream**', (socket) => {
    open.add(socket);
    wire.opened += 1;
    const server = socket.connectToServer();
    server.onMessage((frame) => {
      for (const one of wire.pass(String(frame))) socket.send(one);
    });
    socket.onClose(() => {
      open.delete(socket);
      void server.close();
    });
  });
  await page.reload();
  await isLive(page);
  return wire;
}

describe('the events of a page', () => {
  test('come once, also when a machine wakes while the page connects', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page, faults } = await openPage(browser, served.server, '/board');
    const wire = await wireOf(page);
    let asked = 0;
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    await page.route('**/api/v1/ticket', async (route) => {
      asked += 1;
      await gate;
      await route.continue();
    });
    for (const socket of wire.open) await socket.close();
    await expect.poll(() => asked).toBe(1);
    await page.evaluate("dispatchEvent(new Event('online'))");
    await expect.poll(() => asked).toBe(2);
    letGo();
    await isLive(page);
    await add(served, 'After the wake');
    await page.getByText('After the wake').waitFor();
    expect(wire.opened).toBe(2);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('that it cannot read make it begin anew with a snapshot', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page } = await openPage(browser, served.server, '/board');
    const wire = await wireOf(page);
    let hasSent = false;
    wire.pass = (frame) => {
      if (hasSent || !frame.includes('task.created')) return [frame];
      hasSent = true;
      return [frame.replace('task.created', 'gizmo.made')];
    };
    await add(served, 'Of a newer version');
    await page.getByText('Of a newer version').waitFor();
    expect(hasSent).toBe(true);
    await page.context().close();
  });

  test('are asked for again when the server is not heard from', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page } = await openPage(browser, served.server, '/board');
    await page.clock.install();
    const wire = await wireOf(page);
    let lost = 0;
    wire.pass = () => {
      lost += 1;
      return [];
    };
    await add(served, 'While nothing came');
    await expect.poll(() => lost).toBeGreaterThan(0);
    wire.pass = (frame) => [frame];
    await page.clock.fastForward(60_000);
    await page.getByText('While nothing came').waitFor();
    expect(wire.opened).toBe(2);
    await page.context().close();
  });
});

/** Edits the title until the page shows a new one, or gives up. */
async function editUntilShown(page: Page, served: Served, id: string, pauseMs: number): Promise<number> {
  for (let edits = 1; edits <= 40; edits += 1) {
    await called(served, `PATCH /tasks/${id}`, { body: { title: `Edit ${edits}` } });
    await delay(pauseMs);
    if ((await page.locator('h1').innerText()).startsWith('Edit')) return edits;
  }
  throw new Error('The page showed no edit');
}

describe('an answer of the server', () => {
  test('is read again after the machine lost its network, if the server still answers', async () => {
    await using served = await serveRepository(newRepository(area));
    const { id } = await called<{ id: string }>(served, 'POST /tasks', { body: { title: 'First' } });
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`);
    await page.getByRole('heading', { name: 'First' }).waitFor();
    await isLive(page);
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await isLive(page);
    await called(served, `PATCH /tasks/${id}`, { body: { title: 'Second' } });
    await page.getByRole('heading', { name: 'Second' }).waitFor();
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('that takes longer than the events between arrives, and then the newest one', async () => {
    await using served = await serveRepository(newRepository(area));
    const { id } = await called<{ id: string }>(served, 'POST /tasks', { body: { title: 'First' } });
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`);
    await page.getByRole('heading', { name: 'First' }).waitFor();
    await isLive(page);
    await page.route(`**/api/v1/tasks/${id}`, async (route) => {
      const response = await route.fetch();
      await delay(1_000);
      // The page may ask for it no more.
      await route.fulfill({ response }).catch(() => {});
    });
    const edits = await editUntilShown(page, served, id, 200);
    await page.getByRole('heading', { name: `Edit ${edits}`, exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});

describe('tabs', () => {
  test('with a code that was used open for a person who is in already', async () => {
    await using served = await serveRepository(newRepository(area));
    const code = served.server.keys.newCode();
    const { page } = await openPage(browser, { ...served.server, keys: { newCode: () => code } }, '/board');
    await isLive(page);
    const second = await page.context().newPage();
    await second.goto(`${served.server.url}/board#code=${code}`);
    await isLive(second);
    expect(second.url()).not.toContain(code);
    await page.context().close();
  });

  test('that the server refused pass on no token', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page } = await openPage(browser, served.server, '/board');
    const wire = await wireOf(page);
    await page.route('**/api/v1/ticket', (route) => route.fulfill({ status: 401, body: '{}' }));
    for (const socket of wire.open) await socket.close();
    await page.getByRole('button', { name: 'Enter' }).waitFor();
    const second = await page.context().newPage();
    await second.goto(`${served.server.url}/board`);
    await second.getByRole('button', { name: 'Enter' }).waitFor();
    expect(await second.evaluate('sessionStorage.length')).toBe(0);
    await page.context().close();
  });
});

test('the output of an attempt goes on after the server was away', async () => {
  await using scene = await newScene(area);
  const folder = path.join(scene.cwd, '.copse/logs', TASK);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'at-aaaa.log');
  appendFileSync(file, 'first line\n');
  const { page } = await openPage(browser, scene.served.server, '/board');
  await isLive(page);
  const outputs: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/output\?/, (socket) => {
    outputs.push(socket);
    socket.connectToServer();
  });
  await page.goto(`${scene.served.server.url}/tasks/${TASK}?part=output`);
  await page.getByText('first line').waitFor();
  let isAway = true;
  await page.route('**/api/v1/ticket', (route) => (isAway ? route.abort() : route.continue()));
  await outputs[0]?.close();
  await page.locator('[data-state=away]').waitFor();
  appendFileSync(file, 'second line\n');
  isAway = false;
  await page.getByText('second line').waitFor();
  expect(await page.locator('[data-state=away]').count()).toBe(0);
  await page.context().close();
});

test('a session that goes on after its task was done is on a page that was opened meanwhile', async () => {
  const scene = newAgents(area);
  const id = await scene.add('Done once', 'commit work one.txt');
  await scene.up();
  await using served = await serveRepository(scene.folder);
  const { page, faults } = await openPage(browser, served.server, '/board');
  await isLive(page);
  const card = page.locator(`[data-task=${id}]`);
  await page.locator(`[data-task=${id}][data-status=done]`).waitFor();
  scene.script(id, 'copse phase shipping; sleep 60');
  await called(served, `POST /tasks/${id}/resume`, { body: {} });
  const orchestrator = startCopse(['orchestrate'], scene.at);
  const ended = finished(orchestrator);
  try {
    await card.getByText('plain · shipping').waitFor();
    expect(faults).toStrictEqual([]);
  } finally {
    orchestrator.kill('SIGKILL');
    await ended;
    endAgents(scene.folder);
  }
  await page.context().close();
});

test('an answer that did not arrive is shown with its text', async () => {
  const scene = newAgents(area);
  const id = await stuck(scene, 'Asks', 'Drop the old table?');
  await using served = await serveRepository(scene.folder);
  const { page } = await openPage(browser, served.server, '/inbox');
  await page.getByText('Drop the old table?').first().waitFor();
  await page.keyboard.press('t');
  await page.getByLabel('Your answer to the agent:').fill('Only the empty one');
  await page.route(`**/tasks/${id}/restart`, (route) => route.abort());
  await page.keyboard.press('Enter');
  const toast = page.getByTestId('toast');
  await toast
    .getByText('The server cannot be reached, so this may not be done.')
    .waitFor({ timeout: 15_000 });
  await toast.getByText(`copse restart ${id} --answer 'Only the empty one'`).waitFor();
  expect((await scene.tasks()).get(id)?.status).toBe('stuck');
  await page.context().close();
});
