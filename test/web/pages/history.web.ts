import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { copse, newArea, newRepository } from '../../support/cli.ts';
import { PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible, expectFits, shoot } from '../../support/server/page-checks.ts';
import { called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

describe('the history page', () => {
  test('shows the board as of an event, says that it is the past, and has no action', async () => {
    await using served = await serveRepository(newRepository(area));
    const { id } = await called<{ id: string }>(served, 'POST /tasks', {
      body: { title: 'First <b>task</b>' },
    });
    const created = Number(await served.board.lastEvent());
    await called(served, 'POST /tasks', { body: { title: 'Second' } });
    await called(served, `POST /tasks/${id}/cancel`, {
      body: { reason: 'no longer wanted' },
      headers: { confirm: 'task.cancel' },
    });
    const last = Number(await served.board.lastEvent());
    const { page, faults } = await openPage(browser, served.server, '/history');
    const column = (name: string) => page.getByRole('region', { name: `${name}, in the past` });
    await page.getByText(`event ${last} of ${last}. Actions are off here.`).waitFor();
    await column('Done').getByText('First <b>task</b>').waitFor();
    await expectAccessible(page);

    // By keyboard, from the end to the first event.
    await page.getByRole('slider', { name: 'Event' }).focus();
    await page.keyboard.press('Home');
    await page.getByText('before the first event').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    await page.getByRole('spinbutton', { name: 'Number of the event' }).fill(String(created));
    await column('Ready').getByText('First <b>task</b>').waitFor();
    expect(await page.getByText('Second').count()).toBe(0);
    await page.getByText(`${id} added, ready to start`).waitFor();
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /cancel|pause|restart/i })
        .count(),
    ).toBe(0);
    await shoot(page, 'history');
    // The board goes on; the past stays.
    await called(served, 'POST /tasks', { body: { title: 'Third' } });
    await page.getByRole('button', { name: 'Last event' }).click();
    await page.getByText(`event ${last} of ${last}.`).waitFor();
    expect(await page.getByText('Third').count()).toBe(0);

    const phone = await openPage(browser, served.server, '/history', PHONE);
    await phone.page.getByText('Actions are off here.').waitFor();
    await phone.page.getByRole('article').getByText('Third').waitFor();
    await expectFits(phone.page);
    await expectAccessible(phone.page);
    await shoot(phone.page, 'history-phone');
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    await page.context().close();
    await phone.page.context().close();
  });

  test('opens an export offline, and refuses a file that is none', async () => {
    const other = newRepository(area);
    for (const title of ['Exported one', 'Exported two']) await copse(['add', title], { cwd: other });
    const { stdout } = await copse(['export'], { cwd: other });
    const file = path.join(area, 'ex <i>port.jsonl');
    const wrong = path.join(area, 'wrong.jsonl');
    writeFileSync(file, stdout);
    writeFileSync(wrong, '{"line":"else"}\n');
    await using served = await serveRepository(newRepository(area));
    const { page, faults } = await openPage(browser, served.server, '/history');
    await page.getByText('The board has no events yet.').waitFor();
    await page.context().setOffline(true);
    const chooser = page.getByLabel('Open an export …');
    await chooser.setInputFiles(wrong);
    await page.getByText('wrong.jsonl is not an export of a board.').waitFor();
    await chooser.setInputFiles(file);
    await page.getByText('of ex <i>port.jsonl: event 2 of 2.').waitFor();
    await page.getByRole('article').getByText('Exported two').waitFor();
    await page.getByRole('button', { name: 'One event back' }).click();
    await page.getByRole('article').getByText('Exported two').waitFor({ state: 'detached' });
    await page.getByRole('article').getByText('Exported one').waitFor();
    // Another export of the same name begins at its own end.
    await copse(['add', 'Exported three'], { cwd: other });
    writeFileSync(file, (await copse(['export'], { cwd: other })).stdout);
    await chooser.setInputFiles(file);
    await page.getByText('of ex <i>port.jsonl: event 3 of 3.').waitFor();
    await expectAccessible(page);
    // Without a connection the browser itself logs that requests failed; nothing else may be wrong.
    expect(faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED|WebSocket/.test(fault))).toStrictEqual([]);
    await page.context().close();
  });
});
