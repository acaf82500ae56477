import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { newArea, newRepository } from '../../support/cli.ts';
import { PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible, expectFits, shoot } from '../../support/server/page-checks.ts';
import { serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  endAgents(area);
});

describe('the fleet page', () => {
  test('says which of its parts could not be read', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page } = await openPage(browser, served.server, '/board');
    for (const [path, detail] of [
      ['agents', 'The agents are hidden.'],
      ['jobs', 'The jobs are hidden.'],
    ])
      await page.route(`**/api/v1/${path}*`, (route) => route.fulfill({ status: 403, json: { detail } }));
    await page.getByRole('link', { name: 'Fleet' }).first().click();
    await page.getByText('The agents are hidden.').waitFor();
    const jobs = page.getByRole('region', { name: 'Latest runs' });
    await expect.poll(() => jobs.getByText('The jobs are hidden.').isVisible()).toBe(true);
    await page.context().close();
  });

  test('says what to do before a machine joins', async () => {
    await using served = await serveRepository(newRepository(area));
    const { page, faults } = await openPage(browser, served.server, '/fleet');
    await page.getByText('No machine has joined this board.').waitFor();
    await page.getByText('No schedule is set.').waitFor();
    await page.getByText('No source is set.').waitFor();
    await expectAccessible(page);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('a machine is drained after a look at what moves, renamed, and takes work again', async () => {
    const schedules = { nightly: { type: 'cron', cron: '0 6 1 1 *', prompt: 'Tidy' } };
    const scene = newScene(area, {
      agents: { plain: { schedules } },
      sections: { sources: { lists: { type: 'markdown', files: ['TODO.md'] } } },
    });
    writeFileSync(path.join(scene.folder, 'TODO.md'), '- [ ] From <b>a list</b>\n');
    scene.git('add', '--all');
    scene.git('commit', '--quiet', '--message=list');
    await scene.add('One', 'commit one one.txt');
    await scene.up();
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/fleet');
    const machines = page.getByRole('region', { name: 'Machines' });
    await machines.getByText(/of 4 slots/).waitFor();
    await machines.getByText('last contact').waitFor();

    await machines.getByRole('button', { name: 'Drain …' }).click();
    const drain = page.getByRole('dialog', { name: /^Drain / });
    await drain.getByText('No task runs there: nothing moves.').waitFor();
    await drain.getByText('copse node drain').first().waitFor();
    await expectAccessible(page);
    await drain.getByRole('button', { name: 'Drain', exact: true }).click();
    await machines.getByText('draining since').waitFor();
    await machines.getByRole('button', { name: 'Take work again' }).click();
    await machines.getByText('draining since').waitFor({ state: 'detached' });

    await machines.getByRole('button', { name: 'Rename …' }).click();
    const rename = page.getByRole('dialog', { name: /^Rename / });
    await rename.getByRole('textbox').fill('build-box');
    await page.keyboard.press('Enter');
    await machines.getByRole('heading', { name: 'build-box' }).waitFor();

    // It asks before it lets a machine leave.
    await machines.getByRole('button', { name: 'Remove from the board' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave it' }).click();

    const schedule = page.getByRole('region', { name: 'Schedules' });
    await schedule.getByText('plain/nightly').waitFor();
    await schedule.getByRole('button', { name: 'Pause' }).click();
    await schedule.getByText('‖ paused').waitFor();
    await schedule.getByRole('button', { name: 'Run now' }).click();
    await page
      .getByTestId('toast')
      .getByText(/^Started cp-/)
      .waitFor();
    await page.getByRole('region', { name: 'Latest runs' }).getByText('plain/nightly').waitFor();
    const sources = page.getByRole('region', { name: 'Sources' });
    await sources.getByRole('button', { name: 'Read now' }).click();
    await page
      .getByTestId('toast')
      .getByText(/^lists has 1 item; \d changed\.$/)
      .waitFor();
    await sources.getByText(/^1 task · every .*next by /s).waitFor();
    await expectAccessible(page);
    await shoot(page, 'fleet');

    const phone = await openPage(browser, served.server, '/fleet', PHONE);
    await phone.page.getByText('plain/nightly').first().waitFor();
    await expectFits(phone.page);
    await expectAccessible(phone.page);
    await shoot(phone.page, 'fleet-phone');
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    // A reading of a source that changed nothing is no event.
    await page.waitForRequest('**/api/v1/sources*');
    await page.route('**/api/v1/nodes*', (route) =>
      route.fulfill({ status: 500, json: { detail: 'No disk.' } }),
    );
    const older = page.getByText(/^Could not be read anew since .*: No disk\./);
    await older.waitFor();
    await page.unroute('**/api/v1/nodes*');
    await older.getByRole('button', { name: 'Try again' }).click();
    await older.waitFor({ state: 'detached' });
    await page.context().close();
    await phone.page.context().close();
  });
});
