/** `copse demo --dashboard` as a new user sees it: only what is printed and what is on the page. */

import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { closeAtEnd } from '../support/close-at-end.ts';
import { finished, newArea, startCopse } from '../support/cli.ts';
import { processesAbout } from '../support/processes-about.ts';
import { openBrowser, openPage } from '../support/server/browser.ts';
import { shoot } from '../support/server/page-checks.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** As the address is printed. */
async function startDemo(folder: string) {
  const home = mkdtempSync(path.join(area, 'home '));
  const argv = ['demo', '--dashboard', '--speed', '3', '--dir', folder];
  const child = startCopse(argv, { cwd: area, env: { HOME: home } });
  closeAtEnd(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = finished(child);
  for (;;) {
    const [, url, code] = /(http:\/\/\S+)\/#code=(\S+)$/m.exec(printed) ?? [];
    if (url !== undefined && code !== undefined)
      return { child, ended, printed: () => printed, server: { url, keys: { newCode: () => code } } };
    if (child.exitCode !== null) throw new Error((await ended).stderr);
    await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  }
}

/** Each step names its page, and opens it. */
async function lookAround(page: Page): Promise<readonly string[]> {
  const look = page.getByRole('complementary', { name: 'A look around' });
  await look.getByRole('button', { name: 'Look around' }).click();
  const titles: string[] = [];
  for (;;) {
    const [title = ''] = (await look.getByRole('heading').innerText()).split(/\s/);
    await page.waitForURL(`**/${title.toLowerCase()}`);
    await page.locator('main h1').filter({ hasText: title }).waitFor();
    expect((await look.locator('p').innerText()).length).toBeGreaterThan(30);
    titles.push(title);
    const next = look.getByRole('button').first();
    const isLast = (await next.innerText()) === 'Done';
    await next.click();
    if (isLast) break;
    // The next one is another page.
    await look.getByRole('heading').filter({ hasNotText: title }).waitFor();
  }
  await look.waitFor({ state: 'detached' });
  return titles;
}

test('one sees a crash, a conflict, a question and a landing, answers the question in the page, and it goes on', async () => {
  const folder = path.join(area, 'demo');
  const demo = await startDemo(folder);
  const { page, faults } = await openPage(browser, demo.server, '/');
  expect(await lookAround(page)).toStrictEqual([
    'Inbox',
    'Board',
    'Queue',
    'Radar',
    'Plans',
    'Fleet',
    'Health',
    'History',
  ]);
  // What runs the demo is an orchestrator of this machine, on every page.
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page
    .getByRole('region', { name: 'Machines' })
    .getByText(/^\d of 4 slots$/)
    .waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  const news = page.getByRole('list', { name: 'News, newest first' });
  for (const seen of [
    /crashed: .*SIGKILL/,
    /handed back to its agent: .*conflict.*src\/greet\.js/,
    /Round to whole degrees, or keep one decimal\?/,
    /landed as [0-9a-f]{10}/,
  ])
    await news.getByText(seen).first().waitFor();
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Convert Celsius to Fahrenheit').waitFor();
  // The answer comes when nothing else is left to do.
  await page.getByText('No agent works.').waitFor();
  await page.getByText('Nothing is landing.').waitFor();
  expect(await page.getByText('No orchestrator is running').count()).toBe(0);
  await shoot(page, 'demo-board');

  await needs.getByRole('link', { name: 'Answer' }).click();
  await page.locator('article[data-selected="true"]').getByText('keep one decimal?').first().waitFor();
  await shoot(page, 'demo-inbox');
  await page.keyboard.press('t');
  await page.getByLabel('Your answer to the agent:').fill('Keep one decimal.');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing needs you now.').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  await page
    .getByRole('region', { name: 'Done' })
    .getByRole('heading', { name: /^Done 7$/ })
    // Three agents work and three landings are checked, one after another.
    .waitFor({ timeout: 90_000 });
  await expect.poll(demo.printed, { timeout: 60_000 }).toContain('The dashboard stays open. Ctrl+C ends it.');
  expect(demo.printed()).toContain('7 of 7 tasks done');
  expect(faults).toStrictEqual([]);
  await page.context().close();
  demo.child.kill('SIGINT');
  expect((await demo.ended).code).toBe(0);
  await expect.poll(() => processesAbout(folder), { timeout: 20_000 }).toStrictEqual([]);
});
