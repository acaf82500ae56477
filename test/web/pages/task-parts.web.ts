/** The timeline and the details of a task: what a person reads after the work. */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
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

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('a file that a task left as a result', () => {
  test('is read on part by part, and saved as it is', async () => {
    const folder = newRepository(area);
    const [text, image] = [path.join(area, 'report ö.txt'), path.join(area, 'image.png')];
    const line = `${'ü'.repeat(1_000)}\n`;
    // More than one page of the server.
    const bytes = Buffer.from(`${line.repeat(2_200)}<b>the end</b>`);
    writeFileSync(text, bytes);
    writeFileSync(image, Buffer.from([137, 80, 78, 71, 0, 1, 2]));
    await using served = await serveRepository(folder);
    const { id } = await called<{ id: string }>(served, 'POST /tasks', { body: { title: 'Report' } });
    for (const file of [text, image]) await copse(['artifact', 'add', file, '--task', id], { cwd: folder });
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}?part=details`);
    const entry = (name: string) => page.getByRole('listitem').filter({ hasText: name });

    await entry('report').getByRole('button', { name: 'Show its content' }).click();
    await page.getByText('The first 256 KB of').waitFor();
    await entry('report').getByRole('button', { name: 'Show more' }).click();
    await page.getByText('The first 512 KB of').waitFor();
    await expectAccessible(page);
    await shoot(page, 'task-result');
    const saving = page.waitForEvent('download');
    await entry('report').getByRole('button', { name: 'Save the file' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('report ö.txt');
    expect(sha(readFileSync(await saved.path()))).toBe(sha(bytes));

    await entry('image').getByRole('button', { name: 'Show its content' }).click();
    await entry('image').getByText('It is not text.').waitFor();
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});

describe('the timeline', () => {
  test('goes back to the first event, and stays there while more happens', async () => {
    await using served = await serveRepository(newRepository(area));
    const { id } = await called<{ id: string }>(served, 'POST /tasks', { body: { title: 'Edited' } });
    const note = (text: string) =>
      called(served, `POST /tasks/${id}/ledger`, { body: { kind: 'decision', text } });
    for (let at = 1; at <= 230; at += 1) await note(`note ${at}`);
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}?part=timeline`);
    await page.getByText('Decision noted: note 230').waitFor();
    await page.getByRole('heading', { name: 'Earlier' }).waitFor();
    expect(await page.getByText('Decision noted: note 1', { exact: true }).count()).toBe(0);

    await page.getByRole('button', { name: 'Show earlier events' }).click();
    await page.getByRole('heading', { name: 'Before any attempt' }).waitFor();
    await page.getByText('Added, ready to start').waitFor();
    expect(await page.getByRole('button', { name: 'Show earlier events' }).count()).toBe(0);
    await note('one more');
    await page.getByText('Decision noted: one more').waitFor();
    expect(await page.getByText('Decision noted: note 1', { exact: true }).count()).toBe(1);
    await expectAccessible(page);

    const phone = await openPage(browser, served.server, `/tasks/${id}?part=timeline`, PHONE);
    await phone.page.getByText('Decision noted: one more').waitFor();
    await expectFits(phone.page);
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    await page.context().close();
    await phone.page.context().close();
  });
});
