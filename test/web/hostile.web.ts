/** Text of people and agents that would do harm as markup, as terminal output or to a reader, wherever a page shows it. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea } from '../support/cli.ts';
import { busyRepository } from '../support/records/busy-board.ts';
import { LAPTOP, PHONE, openBrowser, openPage } from '../support/server/browser.ts';
import { expectFits, shoot } from '../support/server/page-checks.ts';
import { serveRepository } from '../support/server/served-repository.ts';
import type { Served } from '../support/server/served.ts';

const area = newArea();

const SHOWN = '<script>globalThis.harmed=1</script><img src=x onerror=globalThis.harmed=1>';
const HOSTILE = `${SHOWN}"'\`\u001b[31mred\u001b]0;owned\u0007\u202egnp.exe\u2066`;
const ONE_LINE = new Set(['title', 'name', 'agent']);
/** A word that cannot be broken, or a line of a megabyte. */
const reworded = (key: string) =>
  ONE_LINE.has(key) ? `${HOSTILE}${'w'.repeat(90)}` : `${HOSTILE}${'x'.repeat(1_000_000)}`;

let browser: Browser;
let served: Served;
beforeAll(async () => {
  browser = await openBrowser();
  const repository = await busyRepository(area, {
    tasks: 20,
    reworded,
    file: 'src/<img src=x onerror=globalThis.harmed=1>\u202e.ts',
    line: `${HOSTILE}${'y'.repeat(1_000_000)}`,
  });
  const logs = path.join(repository, '.copse', 'logs', 'cp-eeee');
  mkdirSync(logs, { recursive: true });
  writeFileSync(path.join(logs, 'at-eeee.log'), `${HOSTILE}\n${'z'.repeat(1_000_000)}\nlast line\n`);
  served = await serveRepository(repository);
});
afterAll(async () => {
  await browser.close();
  await served[Symbol.asyncDispose]();
});

/** Every text of the page: also what only a pointer, a screen reader or the window shows. */
interface Texts {
  readonly length: number;
  readonly bare: readonly string[];
  readonly isHarmed: boolean;
}

function textsOf(page: Page): Promise<Texts> {
  return page.evaluate(() => {
    const texts = [document.title];
    const read = (root: Document | ShadowRoot): void => {
      texts.push(root.textContent ?? '');
      for (const element of root.querySelectorAll('*')) {
        // The value of a choice is no text of the page.
        for (const { name, value } of element.attributes) if (name !== 'value') texts.push(value);
        if (element.shadowRoot) read(element.shadowRoot);
      }
    };
    texts.push(document.documentElement.textContent ?? '');
    read(document);
    const BARE = /[\u0000-\u0008\u000B-\u001F\u007F\u202A-\u202E\u2066-\u2069]/;
    return {
      length: texts.reduce((sum, { length }) => sum + length, 0),
      bare: texts.filter((text) => BARE.test(text)).map((text) => text.slice(0, 200)),
      isHarmed: 'harmed' in globalThis,
    };
  });
}

/** More than a page can lay out while a person scrolls. */
const MOST_TEXT = 600_000;

const hostile = (page: Page): Locator =>
  page.getByRole('main').getByText(SHOWN).filter({ visible: true }).first();

const PLACES: readonly (readonly [name: string, path: string, ready: (page: Page) => Locator])[] = [
  ['the inbox', '/inbox', hostile],
  ['a question in the inbox', '/inbox?task=cp-bbbb', hostile],
  ['the board', '/board', hostile],
  ['the board as a list', '/board?view=list', hostile],
  [
    'the news of the board',
    '/board',
    (page) => page.getByLabel('News, newest first').getByText(SHOWN).first(),
  ],
  ['the queue', '/queue', hostile],
  ['the radar', '/radar', hostile],
  ['plans', '/plans', hostile],
  ['the fleet', '/fleet', hostile],
  ['health', '/health', hostile],
  ['the history', '/history', hostile],
  ['the changes of a task', '/tasks/cp-eeee?part=changes', hostile],
  ['the timeline of a task', '/tasks/cp-dddd?part=timeline', hostile],
  ['the output of a task', '/tasks/cp-eeee?part=output', (page) => page.getByText('last line').first()],
  ['the details of a task', '/tasks/cp-eeee?part=details', hostile],
];

describe.each([
  ['a laptop', LAPTOP],
  ['a phone', PHONE],
] as const)('on %s', (size, options) => {
  test.each(PLACES)('%s shows hostile text as text', async (name, address, ready) => {
    const { page, faults } = await openPage(browser, served.server, address, options);
    // Megabytes of text.
    await ready(page).waitFor({ timeout: 60_000 });
    const { length, ...found } = await textsOf(page);
    expect(found).toStrictEqual({ bare: [], isHarmed: false });
    expect(length).toBeLessThan(MOST_TEXT);
    await expectFits(page);
    await shoot(page, `hostile-${name.replaceAll(' ', '-')}-${size.replace(/\W/g, '-')}`);
    // The page still answers a person.
    await page.getByRole('link', { name: 'Board', exact: true }).first().click();
    await page.waitForURL('**/board');
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});

test('the palette and the differences of a pair show hostile text as text', async () => {
  const { page, faults } = await openPage(browser, served.server, '/radar');
  await page.getByRole('button', { name: 'Show both diffs' }).first().click();
  await page.getByRole('dialog').getByText(SHOWN).first().waitFor();
  expect(await textsOf(page)).toMatchObject({ bare: [], isHarmed: false });
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('A page, a task, or a command').fill('cp-eeee');
  await page.getByRole('option').getByText(SHOWN).first().waitFor();
  expect(await textsOf(page)).toMatchObject({ bare: [], isHarmed: false });
  expect(faults).toStrictEqual([]);
  await page.context().close();
});
