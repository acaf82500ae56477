import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { newArea } from '../../support/cli.ts';
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

const line = (text: string) =>
  `printf '1\\n${text}\\n3\\n' > a.txt; git commit --quiet --all --message="feat: ${text}"`;

describe('the radar page', () => {
  test('a cell of the matrix opens both diffs, by keyboard; a phone has the pairs as a list', async () => {
    const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
    const hostile = 'One <script>alert(1)</script>';
    const ids: readonly string[] = [
      await scene.add(hostile, line('<b>one</b>')),
      await scene.add('Other', line('other')),
      await scene.add('Far', 'echo end >> a.txt; git commit --quiet --all --message="feat: end"'),
      await scene.add('Away', 'commit away away.txt'),
    ];
    await scene.up();
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/radar');
    const [first = '', second = ''] = ids;
    const [one, other] = first < second ? [first, second] : [second, first];
    const matrix = page.getByRole('region', { name: 'Matrix of branches' });
    const cell = matrix.getByRole('button', { name: `${one} and ${other}: conflict` });
    await cell.waitFor();
    // The branch that meets no other has no row.
    expect(await matrix.getByText('Away').count()).toBe(0);
    await page.getByText(/^4 branches of unfinished tasks · /).waitFor();
    await expectAccessible(page);
    await shoot(page, 'radar');

    await matrix.getByRole('button').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate(`document.activeElement.closest('td').cellIndex`)).toBe(2);
    await cell.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: `${one} and ${other}: conflict` });
    await dialog.getByText('+<b>one</b>').waitFor();
    await dialog.getByText('+other').waitFor();
    await expectAccessible(page);
    await shoot(page, 'radar-diffs');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const phone = await openPage(browser, served.server, '/radar', PHONE);
    const pairs = phone.page.getByRole('list', { name: 'Pairs of branches' });
    await pairs.getByText(hostile).first().waitFor();
    expect(await phone.page.getByRole('region', { name: 'Matrix of branches' }).isVisible()).toBe(false);
    await expectFits(phone.page);
    await expectAccessible(phone.page);
    await shoot(phone.page, 'radar-phone');
    await pairs.getByRole('button', { name: 'Show both diffs' }).first().click();
    await phone.page.getByRole('dialog').getByText('copse diff').first().waitFor();
    await shoot(phone.page, 'radar-diffs-phone');
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    await page.context().close();
    await phone.page.context().close();
  });
});
