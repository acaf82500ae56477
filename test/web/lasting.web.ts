/** An open page goes on: with other tabs and the command line, without a network, without a server, and after an upgrade. */

import { mkdtempSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, copse, newArea, newRepository, newTasks, printed } from '../support/cli.ts';
import { manyStories } from '../support/records/many-stories.ts';
import { oneOfEach, tell } from '../support/records/stories.ts';
import { openBrowser, openPage } from '../support/server/browser.ts';
import { serveRepository } from '../support/server/served-repository.ts';
import {
  installation,
  removeScriptOf,
  renameWebFiles,
  startServing,
} from '../support/server/serving-process.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const connection = (page: Page) => page.locator('[data-connection]').first();

async function isNow(page: Page, state: 'live' | 'away'): Promise<void> {
  await expect.poll(() => connection(page).getAttribute('data-connection'), { timeout: 60_000 }).toBe(state);
}

/** The page has every event of the board, and exactly its tasks. */
async function expectWhole(page: Page, cwd: string): Promise<void> {
  const { stdout } = await copse(['events', '--last', '1', '--json'], { cwd });
  const { number } = JSON.parse(stdout) as { readonly number: number };
  await expect
    .poll(() => connection(page).getAttribute('title'), { timeout: 30_000 })
    .toBe(`The board at event ${number}`);
  const { tasks } = await answer<{ tasks: readonly { id: string }[] }>(['list', '--all'], { cwd });
  const shown = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('[data-card]')].map((card) => card.getAttribute('data-card')).toSorted(),
    );
  await expect.poll(shown).toStrictEqual(tasks.map(({ id }) => id).toSorted());
}

/** What tells a page that went on from one that was loaded again. */
function watch(page: Page): { snapshots: () => number; loads: () => number } {
  let snapshots = 0;
  let loads = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/snapshot/records')) snapshots += 1;
    if (request.isNavigationRequest()) loads += 1;
  });
  return { snapshots: () => snapshots, loads: () => loads };
}

/** All cards are drawn, so that a test can count them. */
const TALL = { viewport: { width: 1440, height: 6_000 } };

async function repositoryWith(count: number): Promise<string> {
  const cwd = newRepository(area);
  await printed(['list'], { cwd });
  await tell(cwd, count === oneOfEach.length ? oneOfEach : manyStories(count));
  return cwd;
}

test('two tabs and the command line at once see the same board', async () => {
  const cwd = await repositoryWith(oneOfEach.length);
  await using served = await serveRepository(cwd);
  const { page, faults } = await openPage(browser, served.server, '/board', TALL);
  const other = await page.context().newPage();
  await other.goto(`${served.server.url}/board`);
  await isNow(page, 'live');
  await isNow(other, 'live');
  for (const tab of [page, other]) await tab.locator('[data-card="cp-aaaa"]').waitFor();
  // A person looks at one tab at a time.
  const add = async (tab: Page, title: string) => {
    await tab.bringToFront();
    await tab.keyboard.press('n');
    await tab.getByLabel('What to do, in a few words').fill(title);
    await tab.keyboard.press('Enter');
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
  };
  for (let round = 1; round <= 3; round += 1)
    await Promise.all([
      add(page, `One ${round}`).then(() => add(other, `Other ${round}`)),
      newTasks([`Command ${round}`, `Line ${round}`], { cwd }),
      printed(['edit', 'cp-hhhh', '--title', `Round ${round}`], { cwd }),
    ]);
  await expectWhole(page, cwd);
  await expectWhole(other, cwd);
  expect(faults).toStrictEqual([]);
  await page.context().close();
});

test('a page without a network for a minute catches up by number: nothing lost, nothing twice, no reload', async () => {
  const cwd = await repositoryWith(oneOfEach.length);
  await using served = await serveRepository(cwd);
  const { page } = await openPage(browser, served.server, '/board', TALL);
  await page.clock.install();
  await page.reload();
  await isNow(page, 'live');
  const seen = watch(page);
  await page.context().setOffline(true);
  await isNow(page, 'away');
  await page.getByText('No connection to the server; trying again.').waitFor();
  // It tries again and again, in vain.
  await page.clock.runFor(60_000);
  await isNow(page, 'away');
  await printed(['delete', 'cp-kkkk', 'cp-mmmm', '--yes'], { cwd });
  const stories = manyStories(60).filter(({ id }) => !oneOfEach.some((one) => one.id === id));
  await tell(cwd, stories);
  await page.context().setOffline(false);
  await isNow(page, 'live');
  await expectWhole(page, cwd);
  expect([seen.snapshots(), seen.loads()]).toStrictEqual([0, 0]);
  await page.context().close();
});

describe('a server', () => {
  test('that was killed and started again on its port: the page goes on, and can act', async () => {
    const cwd = await repositoryWith(oneOfEach.length);
    const home = mkdtempSync(path.join(area, 'home '));
    const first = await startServing({ cwd, home });
    const { page } = await openPage(browser, first, '/board', TALL);
    await isNow(page, 'live');
    // What comes after the first paint is there: what is not would be loaded with the page, again.
    await page.waitForLoadState('networkidle');
    await page.keyboard.press('n');
    await page.getByLabel('What to do, in a few words').waitFor();
    await page.keyboard.press('Escape');
    const seen = watch(page);
    await first.kill();
    await isNow(page, 'away');
    await newTasks(['While it was away'], { cwd });
    const second = await startServing({ cwd, home, port: first.port });
    await isNow(page, 'live');
    await page.getByText('While it was away').waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('What to do, in a few words').fill('After it was back');
    await page.keyboard.press('Enter');
    await page.locator('[data-card]').getByText('After it was back').waitFor();
    await expectWhole(page, cwd);
    expect([seen.snapshots(), seen.loads()]).toStrictEqual([0, 0]);
    await second.kill();
    await page.context().close();
  });

  test('that answers nothing, though its connection is open, is noticed when the page is looked at', async () => {
    const cwd = await repositoryWith(oneOfEach.length);
    const server = await startServing({ cwd, home: mkdtempSync(path.join(area, 'home ')) });
    const context = await browser.newContext(TALL);
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${server.url}/board#code=${server.keys.newCode()}`);
    await isNow(page, 'live');
    server.child.kill('SIGSTOP');
    await page.clock.fastForward(25_000);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await isNow(page, 'away');
    server.child.kill('SIGCONT');
    await newTasks(['Meanwhile'], { cwd });
    await expect
      .poll(
        async () => {
          await page.clock.runFor(1_000);
          return connection(page).getAttribute('data-connection');
        },
        { timeout: 60_000 },
      )
      .toBe('live');
    await page.getByText('Meanwhile').waitFor();
    await expectWhole(page, cwd);
    await server.kill();
    await context.close();
  });
});

describe('an upgrade under an open tab', () => {
  test('loads the page once more, when it needs a file that is gone', async () => {
    const cwd = await repositoryWith(oneOfEach.length);
    const home = mkdtempSync(path.join(area, 'home '));
    const dist = installation(path.join(area, 'upgraded', 'dist'));
    const first = await startServing({ cwd, home, dist });
    const { page } = await openPage(browser, first, '/board', TALL);
    await isNow(page, 'live');
    await page.waitForLoadState('networkidle');
    await first.kill();
    renameWebFiles(dist);
    const second = await startServing({ cwd, home, dist, port: first.port });
    await isNow(page, 'live');
    const seen = watch(page);
    // Its keys were not read before.
    await page.keyboard.press('?');
    await expect.poll(() => seen.loads()).toBe(1);
    await isNow(page, 'live');
    await page.locator('[data-card="cp-aaaa"]').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect([page.url(), seen.loads()]).toStrictEqual([`${first.url}/board`, 1]);
    await second.kill();
    await page.context().close();
  });

  test('that lacks a file does not load the page for ever: it says so, and the rest of the page works', async () => {
    const cwd = await repositoryWith(oneOfEach.length);
    const home = mkdtempSync(path.join(area, 'home '));
    const dist = installation(path.join(area, 'broken', 'dist'));
    removeScriptOf(dist, 'src/shell/help.tsx');
    const server = await startServing({ cwd, home, dist });
    const { page } = await openPage(browser, server, '/board', TALL);
    await isNow(page, 'live');
    const seen = watch(page);
    await page.keyboard.press('?');
    await expect.poll(() => seen.loads(), { timeout: 30_000 }).toBe(1);
    await isNow(page, 'live');
    await page.locator('[data-card="cp-aaaa"]').waitFor();
    await page.keyboard.press('?');
    await page.getByText('This part of the page cannot be shown.').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.waitForURL('**/inbox');
    expect(seen.loads()).toBe(1);
    await server.kill();
    await page.context().close();
  });

  test('a part of the page that is asked for while the server is away comes when it is back', async () => {
    const cwd = await repositoryWith(oneOfEach.length);
    const home = mkdtempSync(path.join(area, 'home '));
    const first = await startServing({ cwd, home });
    const { page } = await openPage(browser, first, '/board', TALL);
    await isNow(page, 'live');
    await first.kill();
    await isNow(page, 'away');
    const seen = watch(page);
    await page.keyboard.press('?');
    await page.getByText('This part of the page cannot be shown.').waitFor();
    await page.getByText('No connection to the server; trying again.').waitFor();
    const second = await startServing({ cwd, home, port: first.port });
    await expect.poll(() => seen.loads(), { timeout: 30_000 }).toBe(1);
    await isNow(page, 'live');
    await page.locator('[data-card="cp-aaaa"]').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(page.url()).toBe(`${first.url}/board`);
    await second.kill();
    await page.context().close();
  });
});
