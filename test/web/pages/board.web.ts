import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, newArea, newRepository, printed } from '../../support/cli.ts';
import { manyStories } from '../../support/records/many-stories.ts';
import { type Story, oneOfEach, tell } from '../../support/records/stories.ts';
import { PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible } from '../../support/server/page-checks.ts';
import { serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

async function repositoryWith(stories: readonly Story[]): Promise<string> {
  const repository = newRepository(area);
  writeFileSync(
    path.join(repository, 'copse.yml'),
    'agents: { claude: { runtime: command, command: "true" } }\n',
  );
  await printed(['list'], { cwd: repository });
  if (stories.length > 0) await tell(repository, stories);
  return repository;
}

const column = (page: Page, name: string) => page.getByRole('region', { name });
const card = (page: Page, id: string) => page.locator(`[data-task="${id}"]`);
const toast = (page: Page) => page.getByTestId('toast');
const focused = (page: Page) =>
  page.evaluate<string | null>('document.activeElement?.getAttribute("data-card")');

describe('the board', () => {
  test('each status is in its column; an agent that asks needs you', async () => {
    await using served = await serveRepository(await repositoryWith(oneOfEach));
    const tall = { viewport: { width: 1440, height: 2_000 } };
    const { page, faults } = await openPage(browser, served.server, '/board', tall);
    const titles = async (name: string) => {
      const cards = await column(page, name).locator('[data-card]').all();
      const ids = await Promise.all(cards.map((one) => one.getAttribute('data-card')));
      return ids.toSorted();
    };
    await card(page, 'cp-aaaa').waitFor();
    expect(await titles('Needs you')).toStrictEqual([
      'cp-bbbb',
      'cp-cccc',
      'cp-dddd',
      'cp-eeee',
      'cp-ffff',
      'cp-gggg',
    ]);
    expect(await titles('Ready')).toStrictEqual(['cp-hhhh', 'cp-jjjj']);
    expect(await titles('Working')).toStrictEqual(['cp-aaaa']);
    expect(await titles('Done')).toStrictEqual(['cp-kkkk', 'cp-mmmm']);
    await card(page, 'cp-jjjj').getByText('waiting for cp-hhhh and cp-gggg').waitFor();
    // A card is too narrow for the command itself.
    const next = card(page, 'cp-gggg').getByRole('button', { name: 'Restart' });
    expect(await next.getAttribute('aria-description')).toBe('copse restart cp-gggg');
    await next.click();
    await toast(page).getByText('cp-gggg').first().waitFor();
    await card(page, 'cp-bbbb').getByRole('link', { name: 'Answer' }).click();
    await page.waitForURL('**/inbox?task=cp-bbbb');
    await page.locator('article[data-selected="true"]').getByText('rm -rf dist').waitFor();
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('filters are kept in the address, by mouse and by keyboard, among 10,000 tasks', async () => {
    await using served = await serveRepository(await repositoryWith(manyStories(10_000)));
    const { page, faults } = await openPage(browser, served.server, '/board');
    await card(page, 'cp-ffff').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('part 9987 ');
    await expect.poll(() => page.locator('article').count()).toBe(1);
    expect(page.url()).toContain('q=part+9987');
    await page.reload();
    await page.getByText('Make part 9987 of the page').waitFor();
    expect(await page.locator('article').count()).toBe(1);
    await page.getByLabel('Id or title').fill('');
    await page.getByLabel('Status').selectOption('stuck');
    await expect.poll(() => page.locator('article').count()).toBe(1);
    expect(page.url()).toContain('status=stuck');
    await page.getByLabel('Status').selectOption('');
    await page.getByLabel('Agent').selectOption('codex');
    await card(page, 'cp-bbbb').waitFor();
    await expect.poll(() => page.locator('article').count()).toBe(1);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('keys move between cards and columns, far beyond the screen, and Enter opens', async () => {
    await using served = await serveRepository(await repositoryWith(manyStories(10_000)));
    const { page, faults } = await openPage(browser, served.server, '/board');
    await card(page, 'cp-ffff').waitFor();
    await page.keyboard.press('j');
    await expect.poll(() => focused(page)).toBe('cp-cccc');
    await page.keyboard.press('l');
    const first = await column(page, 'Ready').locator('[data-card]').first().getAttribute('data-card');
    await expect.poll(() => focused(page)).toBe(first);
    const seen = new Set<string | null | undefined>();
    for (let step = 0; step < 25; step += 1) {
      const before = await focused(page);
      seen.add(before);
      await page.keyboard.press('j');
      await expect.poll(() => focused(page)).not.toBe(before);
    }
    expect(seen.size).toBe(25);
    const id = await focused(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/tasks/${id}`);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('a task is added by keyboard, seen by the command line and in another tab, and deleted from there', async () => {
    const repository = await repositoryWith([]);
    await using served = await serveRepository(repository);
    const { page, faults } = await openPage(browser, served.server, '/board');
    const other = await page.context().newPage();
    await page.getByText('The board is empty.').waitFor();
    await other.goto(`${served.server.url}/board`);
    await page.keyboard.press('n');
    await page.getByLabel('What to do, in a few words').fill("Don't break");
    await page.getByLabel('Priority').selectOption('p5');
    await page.getByText(`copse add 'Don'\\''t break' --priority p5`).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.getByLabel('Tasks that must be done first').fill('cp-none');
    await page.getByLabel('What to do, in a few words').fill("Don't break");
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('cp-none').first().waitFor();
    await page.getByLabel('Tasks that must be done first').fill('');
    await page.keyboard.press('Enter');
    await column(page, 'Ready').getByText("Don't break").waitFor();
    await column(other, 'Ready').getByText("Don't break").waitFor();
    const { tasks } = await answer<{ tasks: [{ id: string; title: string }] }>(['list'], {
      cwd: repository,
    });
    expect(tasks.map(({ title }) => title)).toStrictEqual(["Don't break"]);
    const [{ id }] = tasks;
    await printed(['delete', id, '--yes'], { cwd: repository });
    await page.getByText('The board is empty.').waitFor();
    // Refusing the unknown task is logged by the browser as a failed request.
    expect(faults.filter((fault) => !/status of 4\d\d/.test(fault))).toStrictEqual([]);
    await page.context().close();
  });

  test('dragging changes the priority; where there is no operation it says why and what would work', async () => {
    const repository = await repositoryWith([
      { id: 'aaaa', title: 'Later', minutes: 3 },
      { id: 'bbbb', title: 'Urgent', minutes: 2, definition: { priority: 5 } },
    ]);
    await using served = await serveRepository(repository);
    const { page, faults } = await openPage(browser, served.server, '/board');
    await card(page, 'cp-aaaa').dragTo(card(page, 'cp-bbbb'));
    await toast(page).getByText('cp-aaaa has priority p5 now.').waitFor();
    await card(page, 'cp-aaaa').getByText('p5').waitFor();
    await card(page, 'cp-aaaa').dragTo(column(page, 'Done'));
    await toast(page).getByText('cp-aaaa moves to Done when it lands. It is ready.').waitFor();
    await toast(page).getByText('copse work cp-aaaa').waitFor();
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});

describe('the shell', () => {
  test('the palette finds pages, tasks among 10,000 and what applies to the open task', async () => {
    const repository = await repositoryWith(manyStories(10_000));
    await using served = await serveRepository(repository);
    const { page, faults } = await openPage(browser, served.server, '/board');
    await card(page, 'cp-ffff').waitFor();
    await page.keyboard.press('Control+k');
    const input = page.getByPlaceholder('A page, a task, or a command');
    await input.fill('fleet');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/fleet');
    await page.keyboard.press('Meta+k');
    await input.fill('cp-hhhh');
    await page.getByRole('option').getByText('Translate').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tasks/cp-hhhh');
    await page.keyboard.press('Control+k');
    await page.getByRole('option').getByText('copse cancel cp-hhhh').waitFor();
    await input.fill('cancel');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Its worktree and its branch stay.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await input.fill('priority');
    await page.keyboard.press('Enter');
    await page.getByLabel('p1 to p5').fill('urgent');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('"urgent" is no priority.').waitFor();
    await page.getByLabel('p1 to p5').fill('p4');
    await page.keyboard.press('Enter');
    await toast(page).getByText('cp-hhhh has priority p4 now.').waitFor();
    const { priority } = await answer<{ priority: string }>(['show', 'cp-hhhh'], { cwd: repository });
    expect(priority).toBe('p4');
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('? shows the keys of the open page, and typing into a field is no key', async () => {
    await using served = await serveRepository(await repositoryWith(oneOfEach));
    const { page, faults } = await openPage(browser, served.server, '/board');
    await card(page, 'cp-aaaa').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Find by id or title').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByLabel('Id or title').fill('');
    await page.getByLabel('Id or title').focus();
    await page.keyboard.type('g i');
    expect(page.url()).toContain('/board');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.waitForURL('**/inbox');
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('on a phone the bar has four places, and More has the rest', async () => {
    await using served = await serveRepository(await repositoryWith(oneOfEach));
    const { page, faults } = await openPage(browser, served.server, '/inbox', PHONE);
    const bar = page.getByRole('navigation', { name: 'Pages', exact: true });
    await bar.getByRole('button', { name: 'More' }).tap();
    await expectAccessible(page);
    await page.getByRole('dialog').getByText('live').waitFor();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Notifications/ })
      .waitFor();
    await page.getByRole('dialog').getByRole('link', { name: 'Health' }).tap();
    await page.waitForURL('**/health');
    await bar.getByRole('link', { name: 'Board' }).tap();
    await page.waitForURL('**/board');
    expect(await bar.getByRole('link').filter({ visible: true }).count()).toBe(3);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});
