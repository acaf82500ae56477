import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { inReview, reviewed, stuck } from '../../support/agents/needs.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { answer, git, newArea, newRepository, printed } from '../../support/cli.ts';
import { type Story, oneOfEach, tell } from '../../support/records/stories.ts';
import { openBrowser, openPage } from '../../support/server/browser.ts';
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

async function repositoryWith(stories: readonly Story[]): Promise<string> {
  const repository = newRepository(area);
  await printed(['list'], { cwd: repository });
  if (stories.length > 0) await tell(repository, stories);
  return repository;
}

function row(page: Page, title: string) {
  return page.locator('article').filter({ hasText: title });
}

/** The line that is open. */
function open(page: Page) {
  return page.locator('article[data-selected="true"]');
}

const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement?.getAttribute("data-key") ?? ""');
const toast = (page: Page) => page.getByTestId('toast');

describe('answering', () => {
  test('by mouse: approve the commit that is shown, take it back, approve again, take it out of the queue', async () => {
    const scene = newScene(area, reviewed);
    const id = await inReview(scene, 'Finished work');
    await stuck(scene, 'Asks', 'Drop the old table?');
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/inbox');
    await row(page, 'Finished work').getByRole('button').first().click();
    await open(page).getByText('1 file').waitFor();
    const approve = open(page).getByRole('button', { name: 'Approve' });
    expect(await approve.getAttribute('data-command')).toMatch(
      /^copse review cp-\w+ --approve --head [0-9a-f]{10}$/,
    );
    await approve.click();
    await toast(page).getByText(`${id}: approve, in 5 s.`).waitFor();
    // The next one has the focus, and the held answer changed nothing yet.
    await open(page).getByText('Drop the old table?').first().waitFor();
    await expect.poll(() => focused(page)).toContain(' question ');
    expect((await scene.tasks()).get(id)?.status).toBe('in_review');
    await toast(page).getByRole('button', { name: 'Take it back' }).click();
    await toast(page).getByText(`Taken back: ${id} still waits for you.`).waitFor();
    await expect.poll(() => focused(page)).toContain(`${id} review `);
    await open(page).getByText('1 file').waitFor();
    // A commit that was not read is not approved.
    const worktree = path.join(scene.folder, '.worktrees', id);
    writeFileSync(path.join(worktree, 'more.txt'), 'more\n');
    git(worktree, 'add', '--all');
    git(worktree, 'commit', '--quiet', '--message=feat: more');
    const moved = git(worktree, 'rev-parse', 'HEAD').slice(0, 10);
    await page.keyboard.press('j');
    await open(page).getByText('Drop the old table?').first().waitFor();
    await page.keyboard.press('k');
    await open(page).getByText(`The branch is at ${moved} now. You read`).waitFor();
    await page.keyboard.press('a');
    await toast(page).getByText(`${id} has a newer commit. Look at it first.`).waitFor();
    await open(page).getByRole('button', { name: 'Show the new commit' }).click();
    await open(page).getByText('2 files').waitFor();
    await open(page).getByRole('button', { name: 'Approve' }).click();
    await toast(page).getByText(`${id} approved, queued to land.`).waitFor({ timeout: 15_000 });
    expect((await scene.tasks()).get(id)?.status).toBe('landing');
    await toast(page).getByRole('button', { name: 'Take it out of the queue' }).click();
    await toast(page).getByText(`Undone: ${id} waits for you again.`).waitFor();
    await row(page, 'Finished work').waitFor();
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('by keyboard: a text answer, then the next, with one answer after the other at once', async () => {
    const scene = newScene(area, reviewed);
    const first = await stuck(scene, 'First', 'Drop the old table?');
    const second = await stuck(scene, 'Second', 'Rename it?');
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/inbox');
    await open(page).getByText('Drop the old table?').first().waitFor();
    await page.keyboard.press('j');
    await open(page).getByText('Rename it?').first().waitFor();
    await page.keyboard.press('k');
    await open(page).getByText('Drop the old table?').first().waitFor();
    await page.keyboard.press('t');
    await page.getByLabel('Your answer to the agent:').fill("No, don't");
    await page.getByText(`copse restart ${first} --answer 'No, don'\\''t'`).waitFor();
    await page.keyboard.press('Enter');
    await open(page).getByText('Rename it?').first().waitFor();
    // Another answer does the first one at once.
    await page.keyboard.press('c');
    await page.getByText('Cancel a task?').waitFor();
    await page.getByRole('button', { name: 'Cancel the task' }).click();
    await page.getByText('Nothing needs you now.').first().waitFor();
    await expect.poll(async () => (await scene.tasks()).get(first)?.status).not.toBe('stuck');
    expect((await scene.tasks()).get(second)?.status).toBe('stuck');
    await page.keyboard.press('u');
    await expect.poll(() => focused(page)).toContain(`${second} question `);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/tasks/${second}`);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('a permission, bound to the question that is shown', async () => {
    const repository = await repositoryWith(oneOfEach);
    await using served = await serveRepository(repository);
    const { page, faults } = await openPage(browser, served.server, '/inbox?task=cp-bbbb');
    await open(page).getByText('rm -rf dist').waitFor();
    const allow = open(page).getByRole('button', { name: 'Allow' });
    await expect
      .poll(() => allow.getAttribute('data-command'))
      .toBe('copse answer cp-bbbb allow --question q1');
    await page.keyboard.press('x');
    await page.keyboard.press('a');
    await toast(page).getByText('a is no answer to cp-bbbb.').waitFor();
    await page.keyboard.press('y');
    await toast(page).getByText('cp-bbbb: allow, in 5 s.').waitFor();
    // Leaving for another page keeps it; it is done when its time is over.
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.waitForURL('**/board');
    await toast(page).getByText('cp-bbbb allowed.').waitFor({ timeout: 15_000 });
    const shown = await answer<{ lastQuestion: { answer: { isAllowed: boolean } } }>(['show', 'cp-bbbb'], {
      cwd: repository,
    });
    expect(shown.lastQuestion.answer.isAllowed).toBe(true);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('two tabs and the command line: an answer to what was answered elsewhere does nothing', async () => {
    const scene = newScene(area, reviewed);
    const id = await stuck(scene, 'Wants to know', 'Drop the old table?');
    await stuck(scene, 'Other', 'Which?');
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/inbox');
    await open(page).getByText('Drop the old table?').first().waitFor();
    const other = await page.context().newPage();
    await other.goto(`${served.server.url}/inbox`);
    await row(other, 'Wants to know').waitFor();
    await page.keyboard.press('r');
    await toast(page).getByText(`${id}: restart, in 5 s.`).waitFor();
    await printed(['cancel', id], scene.at);
    await row(other, 'Wants to know').waitFor({ state: 'detached' });
    await toast(page).getByText(`${id} was answered elsewhere.`).waitFor({ timeout: 15_000 });
    expect((await scene.tasks()).get(id)?.status).toBe('cancelled');
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('a text stays, and answers no other task, when its task is answered elsewhere', async () => {
    const scene = newScene(area, reviewed);
    const first = await stuck(scene, 'First', 'Drop the old table?');
    const second = await stuck(scene, 'Second', 'Rename it?');
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/inbox');
    await open(page).getByText('Drop the old table?').first().waitFor();
    await page.keyboard.press('t');
    const field = page.getByLabel('Your answer to the agent:');
    await field.pressSequentially('No, resta');
    await printed(['cancel', first], scene.at);
    await page.getByText('1 waits for you').waitFor();
    await page.keyboard.type('rt');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('No, restart');
    await open(page).getByText(`${first} was answered elsewhere. Your text is not sent`).waitFor();
    await page.keyboard.press('Escape');
    await open(page).getByText('Rename it?').first().waitFor();
    expect((await scene.tasks()).get(second)?.status).toBe('stuck');
    // A link to a task that asks since the inbox was looked at selects that task.
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.waitForURL('**/board');
    const third = await stuck(scene, 'Third', 'Which key?');
    await page.locator(`article[data-task="${third}"]`).getByRole('link', { name: 'Answer' }).click();
    await open(page).getByText('Which key?').first().waitFor();
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('a refusal shows the reason and the command, and the task is back in the list', async () => {
    const repository = await repositoryWith(oneOfEach);
    await using served = await serveRepository(repository);
    const { page } = await openPage(browser, served.server, '/inbox?task=cp-eeee');
    // Its commit is not in this repository.
    await open(page).getByText('Its commits are not in this repository.').waitFor();
    await open(page).getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => toast(page).getAttribute('data-problem'), { timeout: 15_000 }).toBe('true');
    await row(page, 'Refuse tokens without an owner').waitFor();
    await page.context().close();
  });
});
