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

const BODY = `# Why

Starting takes <img src=x onerror=alert(1)> **too long**; run \`copse list\`.
[a link](javascript:alert(1))

- [x] measure
- [ ] mend

\`\`\`sh
echo "<script>alert(1)</script>"
\`\`\`
`;

describe('the page of plans', () => {
  test('a plan has its text as text, its progress, its graph with the critical path, and what landed', async () => {
    const scene = newScene(area, { sections: { landing: { policy: 'auto' } } });
    await using served = await serveRepository(scene.folder);
    const { id: plan } = await called<{ id: string }>(served, 'POST /plans', {
      body: { title: 'Faster <i>start</i>', body: BODY },
    });
    await called(served, 'POST /plans', { body: { title: 'Another' } });
    const add = async (title: string, script: string, ...after: readonly string[]) =>
      scene.add(title, script, '--plan', plan, ...after.flatMap((task) => ['--depends', task]));
    const first = await add('Measure', 'commit one one.txt');
    const second = await add('Mend the <b>loader</b>', 'copse stuck "which one?"', first);
    const third = await add('Measure again', 'true', second);
    await add('Tell', 'true', first);
    await add('Celebrate', 'true', third);
    await scene.up();

    const { page, faults } = await openPage(browser, served.server, `/plans?plan=${plan}`);
    const article = page.getByRole('article', { name: 'Faster <i>start</i>' });
    await article.getByText('1 of 5 done').waitFor();
    await article.getByText('<img src=x onerror=alert(1)>').waitFor();
    await article.getByText('[a link](javascript:alert(1))').waitFor();
    await article.getByText('echo "<script>alert(1)</script>"').waitFor();
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    await article.getByText(`${second} → ${third} → `).waitFor();
    const graph = article.getByRole('region', { name: 'Dependency graph' });
    await graph.getByRole('link', { name: /· critical Mend the <b>loader<\/b>/ }).waitFor();
    await article.getByRole('region', { name: 'Landed commits' }).getByText(first).waitFor();
    await expectAccessible(page);
    await shoot(page, 'plans');
    await graph.getByRole('link', { name: /· done Measure$/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/tasks/${first}`);
    await page.goBack();
    await page.getByRole('link', { name: /^Another/ }).click();
    await page.getByRole('article', { name: 'Another' }).getByText('It has no tasks yet').waitFor();

    const phone = await openPage(browser, served.server, `/plans?plan=${plan}`, PHONE);
    await phone.page.getByRole('region', { name: 'Dependency graph' }).waitFor();
    await expectFits(phone.page);
    await expectAccessible(phone.page);
    await shoot(phone.page, 'plans-phone');
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    await page.context().close();
    await phone.page.context().close();
  });
});
