import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea, newRepository } from '../support/cli.ts';
import { openBrowser, openPage } from '../support/server/browser.ts';
import { called, serveRepository } from '../support/server/served-repository.ts';

const area = newArea();

describe('the dashboard', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  test('opens with the printed code, shows the board, and follows it without a reload', async () => {
    await using served = await serveRepository(newRepository(area));
    await called(served, 'POST /tasks', { body: { title: 'First <b>task</b>' } });
    const { page, faults } = await openPage(browser, served.server, '/board');
    await page.getByRole('region', { name: 'Ready' }).getByText('First <b>task</b>').waitFor();
    expect(page.url()).toBe(`${served.server.url}/board`);
    await called(served, 'POST /tasks', { body: { title: 'Second' } });
    await page.getByText('Second').waitFor();
    expect(faults).toStrictEqual([]);
  });
});
