import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea, newRepository } from '../support/cli.ts';
import { LAPTOP, openBrowser, openPage } from '../support/server/browser.ts';
import { called, serveRepository } from '../support/server/served-repository.ts';

const area = newArea();

declare global {
  var told: string[];
}

describe('notifications of the browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  test('come only after a person turned them on, and only for what newly needs a person while the page is not seen', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page, faults } = await openPage(browser, served.server, '/board', {
      ...LAPTOP,
      permissions: ['notifications'],
    });
    // The browser shows them outside of the page, where a test cannot look: it keeps what it was asked to show.
    await page.addInitScript(() => {
      globalThis.told = [];
      const Real = Notification;
      globalThis.Notification = class extends Real {
        constructor(title: string, options?: NotificationOptions) {
          if (options?.body === 'Refused') throw new TypeError('Illegal constructor.');
          super(title, options);
          globalThis.told.push(`${title}: ${options?.body}`);
        }
      };
    });
    // The code of the address is used up before.
    await page.getByText('The board is empty.').waitFor();
    await page.reload();
    const stuck = async (title: string) => {
      const { id } = await called<{ readonly id: string }>(served, 'POST /tasks', { body: { title } });
      await called(served, `POST /tasks/${id}/work`, { body: {} });
      await called(served, `POST /tasks/${id}/stuck`, { body: { reason: 'Which one?' } });
      await page.getByRole('region', { name: 'Needs you' }).getByText(title).waitFor();
      return id;
    };
    await stuck('Before');
    const button = page.getByRole('button', { name: 'Notifications off' });
    await button.click();
    await page.getByRole('button', { name: 'Notifications on' }).waitFor();
    await stuck('While it is seen');
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    });
    const id = await stuck('While it is not seen');
    await expect
      .poll(() => page.evaluate(() => globalThis.told))
      .toEqual([`${id}: it needs a decision: While it is not seen`]);
    // Those that waited before the page was opened are not new, however late the board is read.
    await page.addInitScript(() => {
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    });
    await page.route('**/snapshot/records', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await route.continue();
    });
    await page.reload();
    await page.getByText('While it is seen').first().waitFor();
    await stuck('Refused');
    const last = await stuck('After it was opened');
    await expect
      .poll(() => page.evaluate(() => globalThis.told))
      .toEqual([`${last}: it needs a decision: After it was opened`]);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});
