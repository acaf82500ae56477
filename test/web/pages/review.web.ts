/** A reviewer sees what lands, and loses nothing that was written about it. */

import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { git, newArea } from '../../support/cli.ts';
import { openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible, shoot } from '../../support/server/page-checks.ts';
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

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`);

/** A long file that changes at lines 200 and 900 for a task in review. */
async function inReview(): Promise<{
  readonly scene: Scene;
  readonly id: string;
  readonly worktree: string;
}> {
  const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  writeFileSync(path.join(scene.folder, 'long.txt'), numbered(2_000).join('\n'));
  writeFileSync(path.join(scene.folder, 'then-a-link'), 'a file\n');
  scene.git('add', 'long.txt', 'then-a-link');
  scene.git('commit', '--quiet', '--message=chore: files');
  const id = await scene.add(
    'Long',
    `sed -i 's/^line 200$/changed/; s/^line 900$/also/' long.txt
seq 1 4000 > new.txt; echo last words > zz.txt; git add --all; git commit --quiet --message='feat: long'`,
  );
  await scene.up();
  return { scene, id, worktree: path.join(scene.folder, '.worktrees', id) };
}

const differences = (page: Page) => page.getByRole('region', { name: 'Differences' });
const files = (page: Page) => page.getByRole('navigation', { name: 'Changed files' }).getByRole('button');
const field = (page: Page) => page.getByLabel('What should change here?');
const approval = (page: Page) => page.getByRole('button', { name: /^Approve / });

test('a file that an agent hides behind line ends is shown, and so is what becomes a link', async () => {
  const { scene, id, worktree } = await inReview();
  writeFileSync(path.join(worktree, 'a.md'), 'note\u2028diff --git a/z.sh b/z.sh\n');
  writeFileSync(path.join(worktree, 'z.sh'), 'evil\n');
  rmSync(path.join(worktree, 'then-a-link'));
  symlinkSync('/etc/passwd', path.join(worktree, 'then-a-link'));
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: hidden');
  await using served = await serveRepository(scene.folder);
  const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`);
  const diff = differences(page);
  await diff.getByText(String.raw`note\u2028diff --git`).waitFor();
  await files(page).filter({ hasText: 'then-a-link' }).click();
  await diff.getByText('file → symbolic link').waitFor();
  await diff.getByText('/etc/passwd').first().waitFor();
  await diff.getByText('a file', { exact: true }).first().waitFor();
  await files(page).filter({ hasText: 'z.sh' }).click();
  await diff.getByText('evil', { exact: true }).first().waitFor();
  await approval(page).waitFor();
  expect(await page.getByText('does not match').count()).toBe(0);
  expect(faults).toStrictEqual([]);
  await page.context().close();
});

test('a patch that is not that of the listed files is an alarm, and takes no approval', async () => {
  const { scene, id } = await inReview();
  await using served = await serveRepository(scene.folder);
  const { page } = await openPage(browser, served.server, '/board');
  await page.route(`**/tasks/${id}/review?*`, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    await route.fulfill({ response, body: text.replaceAll('diff --git', 'diff --gut') });
  });
  await page.getByRole('region', { name: 'Needs you' }).getByRole('link', { name: 'Long' }).click();
  const alarm = page.getByRole('alert').filter({ hasText: 'does not match the list of changed files' });
  await alarm.getByText(`copse review ${id}`).waitFor();
  await page.getByRole('button', { name: /^Send back/ }).waitFor();
  expect(await approval(page).count()).toBe(0);
  await expectAccessible(page);
  await shoot(page, 'task-mismatch');
  await page.context().close();
});

test('a comment begins where the file changes, and stays while the page scrolls and loads anew', async () => {
  const { scene, id } = await inReview();
  await using served = await serveRepository(scene.folder);
  const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`);
  const diff = differences(page);
  await diff.getByText('changed', { exact: true }).first().waitFor();
  await page.keyboard.press('c');
  await page.locator('textarea:focus').waitFor();
  expect(await field(page).and(page.locator(':focus')).count()).toBe(1);
  const line = page.getByRole('spinbutton', { name: 'line' });
  expect(await line.inputValue()).toBe('200');
  await page.keyboard.type('vcj: why?');
  await line.fill('');
  await line.pressSequentially('123');
  expect([await line.inputValue(), await field(page).inputValue()]).toStrictEqual(['123', 'vcj: why?']);

  await files(page).filter({ hasText: 'zz.txt' }).click();
  await field(page).waitFor({ state: 'detached' });
  const button = page.locator('[data-utility-button]').first();
  await expect
    .poll(async () => {
      await diff.getByText('last words').first().hover();
      return button.isVisible();
    })
    .toBe(true);
  await button.click();
  await page.getByTestId('toast').getByText('long.txt line 123 is not added yet').waitFor();
  await expect.poll(() => field(page).inputValue()).toBe('vcj: why?');
  await page.reload();
  await expect.poll(() => field(page).inputValue()).toBe('vcj: why?');
  // What is in the form is sent back too.
  await page.getByRole('button', { name: 'Send back with 1 comment' }).waitFor();
  const last = page.getByRole('spinbutton', { name: 'to', exact: true });
  await last.fill('125');
  await page.getByText('long.txt:123-125').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Add the comment' }).click();
  await page.getByText(/^Not sent yet · lines 123 to 125 of commit/).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Send back with 1 comment' }).waitFor();
  expect(faults).toStrictEqual([]);
  await page.context().close();
});

test('a comment whose line is gone is shown below the change, and can be removed', async () => {
  const { scene, id, worktree } = await inReview();
  await using served = await serveRepository(scene.folder);
  const { page } = await openPage(browser, served.server, `/tasks/${id}`);
  await files(page).filter({ hasText: 'new.txt' }).click();
  await page.keyboard.press('c');
  await field(page).fill('Is it needed?');
  await page.getByRole('button', { name: 'Add the comment' }).click();
  await page.getByText(/^Not sent yet · line 1 of commit/).waitFor();
  git(worktree, 'rm', '--quiet', 'new.txt');
  git(worktree, 'commit', '--quiet', '--message=fix: not needed');
  await page.reload();
  await page.getByText(/^Not sent yet · new.txt line 1 of commit/).waitFor();
  await page.getByRole('button', { name: 'Remove the comment on new.txt line 1' }).click();
  await page.getByRole('button', { name: 'Send back', exact: true }).waitFor();
  expect(await page.getByText(/^Not sent yet/).count()).toBe(0);
  await page.context().close();
});

test('its keys are in the help, wait for a dialog to close, and do not run again while they are held', async () => {
  const { scene, id } = await inReview();
  await using served = await serveRepository(scene.folder);
  const { page } = await openPage(browser, served.server, `/tasks/${id}`);
  await files(page).first().waitFor();
  await page.keyboard.down('v');
  await page.keyboard.down('v');
  await page.keyboard.up('v');
  await page.getByText(/· 1 viewed/).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Comment on a line').waitFor();
  await page.keyboard.press('v');
  await page.keyboard.press('c');
  await page.keyboard.press('Escape');
  await page.getByText(/· 1 viewed/).waitFor();
  expect(await field(page).count()).toBe(0);
  await page.context().close();
});
