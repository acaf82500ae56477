/** Everything by keyboard: what can be pressed is reached by Tab, the focus is seen and never lost, and what happens is said. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea, newRepository, printed } from '../support/cli.ts';
import { oneOfEach, tell } from '../support/records/stories.ts';
import { openBrowser, openPage } from '../support/server/browser.ts';
import { serveRepository } from '../support/server/served-repository.ts';
import type { Served } from '../support/server/served.ts';

const area = newArea();
let browser: Browser;
let served: Served;
let page: Page;
let cwd: string;

beforeAll(async () => {
  cwd = newRepository(area);
  await printed(['list'], { cwd });
  await tell(cwd, oneOfEach, { plan: 'pl-aaaa' });
  [browser, served] = await Promise.all([openBrowser(), serveRepository(cwd)]);
  ({ page } = await openPage(browser, served.server, '/board'));
  await page.locator('[data-card="cp-aaaa"]').waitFor();
  await page.getByRole('complementary', { name: 'A look around' }).getByText('Close').click();
});
afterAll(async () => {
  await browser.close();
  await served[Symbol.asyncDispose]();
});

interface Walked {
  /** What a mouse can press and Tab does not reach. */
  readonly missed: readonly string[];
  /** What has the focus, and shows it to nobody. */
  readonly unseen: readonly string[];
}

/** Presses Tab until the focus is where it began. A long list draws its cards anew, so they are known by what they say. */
async function walk(): Promise<Walked> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const unseen: string[] = [];
  const walked = new Set<string>();
  for (let tabs = 0; tabs < 200; tabs += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const one = document.activeElement as HTMLElement | null;
      if (one === null || one === document.body) return null;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      const box = one.getBoundingClientRect();
      const isIn = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
      const isOutlined = outlineStyle !== 'none' && outlineWidth !== '0px';
      return { isSeen: isIn && (isOutlined || boxShadow !== 'none'), html: one.outerHTML };
    });
    if (at === null || walked.has(at.html)) break;
    walked.add(at.html);
    if (!at.isSeen) unseen.push(at.html.slice(0, 120));
  }
  const all = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }))
      // Of tabs, one has the focus and arrows lead to the others.
      .filter((one) => one.getAttribute('role') !== 'tab' || one.getAttribute('aria-selected') === 'true')
      .map((one) => one.outerHTML),
  );
  return { missed: all.filter((html) => !walked.has(html)), unseen };
}

const announced = () => page.locator('p[role="status"][aria-live="polite"]');
const toast = () => page.getByTestId('toast');
const isFocusLost = () => page.evaluate(() => document.activeElement === document.body);

describe('Tab', () => {
  test.each([
    ['/inbox', 'Write the changelog'],
    ['/board', 'Add a log-in page'],
    ['/queue', 'main'],
    ['/radar', 'Radar'],
    ['/plans', 'Log in'],
    ['/fleet', 'No machine has joined'],
    ['/health', 'Health'],
    ['/history', 'History'],
    ['/tasks/cp-ffff', 'Rename the loader'],
  ])('reaches all that can be pressed on %s, and it is seen where the focus is', async (path, text) => {
    await page.goto(`${served.server.url}${path}`);
    await page.locator('main').getByText(text).first().waitFor();
    // Cards are sorted anew when the first answers are there.
    await page.waitForLoadState('networkidle');
    expect(await walk()).toStrictEqual({ missed: [], unseen: [] });
  });
});

describe('a dialog', () => {
  test.each([
    ['the palette', 'Control+k'],
    ['the palette on a Mac', 'Meta+k'],
    ['the keys', '?'],
    ['a new task', 'n'],
  ])('%s opens by a key, has the focus, and Escape gives it back', async (_, key) => {
    await page.goto(`${served.server.url}/board`);
    const card = page.locator('[data-card="cp-cccc"]');
    await card.focus();
    await page.keyboard.press(key);
    await page.getByRole('dialog').waitFor();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest('dialog') !== null))
      .toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await card.evaluate((one) => one === document.activeElement)).toBe(true);
  });

  test('takes what is typed at once: the palette searches', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('health');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/health');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

describe('a button', () => {
  test('shows the command line that does the same: to a pointer that rests on it, and to the keyboard', async () => {
    await page.goto(`${served.server.url}/tasks/cp-gggg`);
    const button = page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Restart' });
    const hint = page.getByTestId('command-hint');
    await button.hover();
    await hint.getByText('copse restart cp-gggg', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await hint.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { level: 1 }).hover();
    await page.getByRole('button', { name: 'Search' }).focus();
    const hasFocus = (): Promise<boolean> => button.evaluate((one) => one === document.activeElement);
    for (let tabs = 0; tabs < 20 && !(await hasFocus()); tabs += 1) await page.keyboard.press('Tab');
    await hint.getByText('copse restart cp-gggg', { exact: true }).waitFor();
    expect(await button.getAttribute('aria-description')).toBe('copse restart cp-gggg');
    await page.keyboard.press('Tab');
    await hint.getByText('copse cancel cp-gggg', { exact: true }).waitFor();
  });
});

describe('what happens', () => {
  test('keeps the focus near when its button goes, and is said politely', async () => {
    await page.goto(`${served.server.url}/tasks/cp-gggg`);
    const restart = page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Cancel' });
    await page.getByRole('region', { name: 'Actions' }).waitFor();
    const more = page.getByRole('region', { name: 'Actions' }).getByText('More');
    if (await more.isVisible()) {
      await more.focus();
      await page.keyboard.press('Enter');
    }
    await restart.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Enter');
    await toast().getByText('cp-gggg is cancelled.').waitFor();
    await expect.poll(() => announced().first().textContent()).toBe('cp-gggg is cancelled.');
    await restart.waitFor({ state: 'detached' });
    await expect.poll(isFocusLost).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true);
  });

  test('elsewhere keeps the focus too: the card with the focus goes when its task is deleted', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.locator('[data-card="cp-hhhh"]').focus();
    await printed(['delete', 'cp-hhhh', '--unlink', '--yes'], { cwd });
    await page.locator('[data-card="cp-hhhh"]').waitFor({ state: 'detached' });
    await expect.poll(isFocusLost).toBe(false);
    await page.keyboard.press('j');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.hasAttribute('data-card')))
      .toBe(true);
  });

  test('a dialog that was opened from nowhere leaves the focus where keys are keys', async () => {
    await page.goto(`${served.server.url}/board`);
    await page.locator('[data-card="cp-cccc"]').waitFor();
    for (let times = 0; times < 2; times += 1) {
      await page.keyboard.press('n');
      await page.getByRole('dialog', { name: 'Add a task' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await page.evaluate(() => document.activeElement?.matches('input, select, textarea'))).toBe(
        false,
      );
    }
  });

  test('a page that is left by keys leaves the focus in the next page', async () => {
    await page.locator('[data-card="cp-cccc"]').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByText('No machine has joined').waitFor();
    await expect.poll(isFocusLost).toBe(false);
  });
});
