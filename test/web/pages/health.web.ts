import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { newArea } from '../../support/cli.ts';
import { PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible, expectFits, shoot } from '../../support/server/page-checks.ts';
import { called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  endAgents(area);
});

interface Stats {
  readonly days: readonly {
    readonly landed: number;
    readonly leadP50Ms: number;
    readonly queueP50Ms: number;
  }[];
}

describe('the health page', () => {
  test('charts have tables, and a pinned baseline stays after a reload', async () => {
    const scene = newScene(area, { sections: { landing: { policy: 'auto' } } });
    await scene.add('One', 'commit one one.txt');
    await scene.add('Two', 'commit two two.txt');
    await scene.add('Stuck', 'exit 3', '--agent', 'plain');
    await scene.up();
    await using served = await serveRepository(scene.folder);
    const { days } = await called<Stats>(served, 'GET /stats');
    expect(days).toMatchObject([{ landed: 2 }]);
    const [day] = days;
    expect(day?.leadP50Ms).toBeGreaterThanOrEqual(day?.queueP50Ms ?? Infinity);

    const { page, faults } = await openPage(browser, served.server, '/health');
    const landed = page.getByRole('figure').filter({ hasText: 'Landed per day' });
    await landed.getByRole('img', { name: 'Chart: Landed per day' }).locator('canvas').waitFor();
    await landed.getByText('As a table').click();
    await landed.getByRole('cell', { name: '2', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pin as baseline' }).click();
    await landed.getByText(/baseline 0\.\d\d \(0 %\)/).waitFor();
    await page.reload();
    await landed.getByText(/baseline 0\.\d/).waitFor();
    await expectAccessible(page);
    await shoot(page, 'health');

    const phone = await openPage(browser, served.server, '/health', PHONE);
    await phone.page.locator('canvas').first().waitFor();
    await expectFits(phone.page);
    await expectAccessible(phone.page);
    await shoot(phone.page, 'health-phone');
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    await page.context().close();
    await phone.page.context().close();
  });
});
