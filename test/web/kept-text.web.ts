/** What a person types is not lost: not by a task that moves on, a refusal, a slip of the hand, or the end of access. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { newArea, newRepository } from '../support/cli.ts';
import { openBrowser, openPage } from '../support/server/browser.ts';
import { called, serveRepository } from '../support/server/served-repository.ts';
import type { Served } from '../support/server/served.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

async function stuck(served: Served, title: string): Promise<string> {
  const { id } = await called<{ readonly id: string }>(served, 'POST /tasks', { body: { title } });
  await called(served, `POST /tasks/${id}/work`, { body: {} });
  await called(served, `POST /tasks/${id}/stuck`, { body: { reason: 'Which one?' } });
  return id;
}

/** As a hand that selects a text and ends beside the dialog. */
async function dragOut(page: Page): Promise<void> {
  const { x = 0, y = 0 } = (await page.getByRole('dialog').locator('textarea').first().boundingBox()) ?? {};
  await page.mouse.move(x + 20, y + 10);
  await page.mouse.down();
  await page.mouse.move(5, y + 10, { steps: 3 });
  await page.mouse.up();
}

test('a dialog keeps its text when its task moves on, and a refusal shows the command with it', async () => {
  await using served = await serveRepository(newRepository(area));
  const id = await stuck(served, 'Which');
  const { page } = await openPage(browser, served.server, `/tasks/${id}`);
  const answer = page.getByRole('button', { name: 'Answer and restart' });
  const field = page.getByLabel('The answer to its question');
  await answer.first().click();
  await field.fill('The blue one');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByText('What you typed was not sent.').waitFor();
  await dragOut(page);
  expect(await field.inputValue()).toBe('The blue one');

  // The server is away for a moment.
  await page.route('**/restart', (route) => route.abort());
  await page.getByRole('dialog').getByRole('button', { name: 'Answer and restart' }).click();
  await page.getByTestId('toast').getByText(`copse restart ${id} --answer 'The blue one'`).waitFor();

  await answer.first().click();
  await field.fill('The red one');
  await called(served, `POST /tasks/${id}/cancel`, { body: {}, headers: { confirm: 'task.cancel' } });
  await page.getByText(`${id} is cancelled now.`).waitFor();
  expect(await field.inputValue()).toBe('The red one');
  await page.getByRole('button', { name: 'Leave it' }).click();
  await answer.waitFor({ state: 'detached' });
  await page.context().close();
});

test('the form of a new task is not closed by a slip', async () => {
  await using served = await serveRepository(newRepository(area));
  const { page, faults } = await openPage(browser, served.server, '/board');
  await page
    .getByRole('button', { name: /^Add a task/ })
    .first()
    .click();
  const body = page.getByLabel('The whole assignment');
  await body.fill('A long text');
  await dragOut(page);
  await page.mouse.click(5, 5);
  await page.getByText('What you typed was not sent.').waitFor();
  expect(await body.inputValue()).toBe('A long text');
  await page.getByRole('button', { name: 'Throw it away' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(faults).toStrictEqual([]);
  await page.context().close();
});

test('a half-typed answer outlives a reload and the end of access, and an answer that access ended for is told', async () => {
  await using served = await serveRepository(newRepository(area));
  const id = await stuck(served, 'Which');
  const { page } = await openPage(browser, served.server, '/inbox');
  const field = page.getByLabel('Your answer to the agent:');
  await page.locator('article[data-selected="true"]').getByText('Which one?').first().waitFor();
  await page.keyboard.press('t');
  await field.fill('The blue one');
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe('The blue one');
  await field.press('Enter');
  await page
    .getByTestId('toast')
    .getByText(/in 5 s/)
    .waitFor();
  await page.route('**/api/v1/**', (route) => route.fulfill({ status: 401, json: { detail: 'No.' } }));
  // A hidden page sends at once what it held.
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    Object.defineProperty(document, 'visibilityState', { get: () => 'visible' });
  });
  await page.getByText('Your access ended').waitFor();
  await page.unroute('**/api/v1/**');
  await page.getByLabel('The code that copse serve printed').fill(served.server.keys.newCode());
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByTestId('toast').getByText(`${id}: your answer was not sent`).waitFor();
  await expect.poll(() => field.inputValue()).toBe('The blue one');
  await page.context().close();
});
