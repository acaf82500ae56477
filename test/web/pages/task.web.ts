/** The whole review in a browser: read fifty files, comment, send back, see what changed, approve, watch it land, undo it. */

import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { inReview as waits } from '../../support/agents/needs.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { finished, git, newArea, printed, startCopse } from '../../support/cli.ts';
import { LAPTOP, PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
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

/** Fifty files; when it is sent back, one of them changes and the prompt is kept. */
const FIFTY = `
if was_told 'Comments on lines'; then
  cp .copse/session-prompt.md "\${0%/*}/told"
  printf 'export const asked = true;\\n' >> src/part-1/file-11.ts
  git commit --quiet --all --message='fix: as asked'
else
  for n in $(seq 1 50); do
    mkdir -p "src/part-$((n % 5))"
    printf 'export const one = %s;\\nexport const two = "<b>%s</b>";\\n' "$n" "$n" > "src/part-$((n % 5))/file-$n.ts"
  done
  git add --all; git commit --quiet --message='feat: fifty files'
fi
`;

const reviewed = () => newScene(area, { sections: { landing: { policy: 'review' } } });

async function inReview(scene: Scene, script: string, title = 'Fifty files'): Promise<string> {
  const id = await scene.add(title, script);
  await scene.up();
  return id;
}

const state = (page: Page, status: string) => page.locator(`dd[data-status=${status}]`);
const files = (page: Page) => page.getByRole('navigation', { name: 'Changed files' }).getByRole('button');

class Orchestrating implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor(scene: Scene) {
    this.#child = startCopse(['orchestrate'], scene.at);
  }

  async [Symbol.asyncDispose]() {
    this.#child.kill('SIGTERM');
    await finished(this.#child);
  }
}

/** Opens the task with all its files, or says what the page shows instead. */
async function opened(page: Page, count: number): Promise<void> {
  try {
    await files(page)
      .nth(count - 1)
      .waitFor();
  } catch (error) {
    throw new Error(`The page shows: ${await page.locator('main').innerText()}`, { cause: error });
  }
}

/** The button that appears beside a line, as a person finds it with the mouse. */
async function commentOn(page: Page, line: string, text: string): Promise<void> {
  const button = page.locator('[data-utility-button]').first();
  // What is still scrolling moves away from the pointer.
  await expect
    .poll(async () => {
      await page.getByText(line).first().hover();
      return button.isVisible();
    })
    .toBe(true);
  await button.click();
  await page.getByLabel('What should change here?').fill(text);
  await page.getByRole('button', { name: 'Add the comment' }).click();
}

describe('the review of a change of fifty files', () => {
  test('by mouse: comments, send back, what changed since, approval, landing, undo', async () => {
    const scene = reviewed();
    const id = await inReview(scene, FIFTY);
    const first = scene.git('rev-parse', `${id}/fifty-files`);
    await using served = await serveRepository(scene.folder);
    await using _ = new Orchestrating(scene);
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`, LAPTOP);
    await opened(page, 50);
    await files(page).filter({ hasText: 'file-11.ts' }).click();
    await commentOn(page, 'export const one = 11;', 'Say why it is eleven.');
    await page.getByRole('button', { name: 'Viewed: src/part-1/file-11.ts' }).click();
    await page.getByRole('button', { name: 'Viewed: src/part-1/file-16.ts' }).click();
    await page.getByRole('button', { name: 'Comment on a line of src/part-1/file-16.ts' }).click();
    await page.getByRole('spinbutton', { name: 'line' }).fill('2');
    await page.getByLabel('What should change here?').fill('Two\nlines.');
    await page.getByRole('button', { name: 'Add the comment' }).click();
    await page.getByText(/· 2 viewed/).waitFor();
    await shoot(page, 'task-review-1440');
    await expectAccessible(page);
    await page.getByLabel('A comment on the whole').fill('Nearly there.');
    await page.getByRole('button', { name: 'Send back with 2 comments' }).click();

    await page.getByText(/The branch is at/).waitFor();
    const told = readFileSync(path.join(scene.scripts, 'told'), 'utf8');
    const lead = `Comments on lines of commit ${first.slice(0, 10)}:`;
    const both = 'src/part-1/file-11.ts:1\nSay why it is eleven.\n\nsrc/part-1/file-16.ts:2\nTwo\nlines.\n';
    expect(told).toContain(`\`\`\`text\nNearly there.\n\n${lead}\n\n${both}\`\`\``);

    await page.getByRole('button', { name: 'Show the new commit' }).click();
    await page.getByText(/· 1 viewed/).waitFor();
    await page.getByRole('button', { name: 'Since the last review' }).click();
    await page.getByText('export const asked = true;').first().waitFor();
    expect(await files(page).allInnerTexts()).toStrictEqual([expect.stringContaining('file-11.ts')]);
    await shoot(page, 'task-since-1440');
    const second = scene.git('rev-parse', `${id}/fifty-files`);
    await page.getByRole('button', { name: `Approve ${second.slice(0, 10)}` }).click();
    await state(page, 'done').waitFor();
    expect(scene.git('show', 'main:src/part-1/file-11.ts')).toContain('asked');

    await page.getByRole('button', { name: 'Undo the landing' }).first().click();
    await page.getByText(/: 50 files, /).waitFor();
    await shoot(page, 'task-undo-1440');
    await page.getByRole('dialog').getByRole('button', { name: 'Undo the landing' }).click();
    await page.getByTestId('toast').getByText(`undoes ${id}`).waitFor();
    await page.getByText('Being undone by').getByRole('link').click();
    await page.getByRole('heading', { name: /Undo/ }).waitFor();
    const approval = page.getByRole('button', { name: /^Approve / });
    await approval.or(state(page, 'done')).first().waitFor();
    if (await approval.isVisible()) await approval.click();
    await expect
      .poll(() => scene.git('ls-tree', '-r', '--name-only', 'main'), { timeout: 60_000 })
      .not.toContain('file-11.ts');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page
      .getByText(/^Landed as/)
      .first()
      .waitFor();
    await shoot(page, 'task-timeline-1440');
    await expectAccessible(page);
    expect(faults).toStrictEqual([]);
  });
});

describe('by keyboard', () => {
  test('a file is viewed, a line gets a comment, and the work is sent back', async () => {
    const scene = reviewed();
    const id = await inReview(scene, FIFTY);
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`);
    await opened(page, 50);
    await page.getByRole('region', { name: 'Differences' }).getByText('file-10.ts').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('v');
    await page.getByText(/· 1 viewed/).waitFor();
    await page.keyboard.press('c');
    await page.getByLabel('What should change here?').waitFor();
    await page.keyboard.type('Typed without a mouse.');
    await page.keyboard.press('Control+Enter');
    const send = page.getByRole('button', { name: 'Send back with 1 comment' });
    await send.focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('toast').getByText('Sent back: plain goes on.').waitFor();
    await page.getByText(/The branch is at/).waitFor();
    expect(readFileSync(path.join(scene.scripts, 'told'), 'utf8')).toContain(
      'src/part-0/file-15.ts:1\nTyped without a mouse.\n',
    );
    expect(faults).toStrictEqual([]);
  });
});

function commitFile(worktree: string, name: string): string {
  writeFileSync(path.join(worktree, name), 'more\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: more');
  return git(worktree, 'rev-parse', 'HEAD');
}

describe('a branch that moves', () => {
  test('while its reader looks at another part of the page is named, and takes no approval before it is gone on with', async () => {
    const scene = reviewed();
    const id = await waits(scene, 'Moves');
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`);
    await opened(page, 1);
    const worktree = path.join(scene.folder, '.worktrees', id);
    const read = git(worktree, 'rev-parse', 'HEAD').slice(0, 10);
    await page.getByRole('button', { name: `Approve ${read}` }).waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    const moved = commitFile(worktree, 'more.txt').slice(0, 10);
    await called(served, `PATCH /tasks/${id}`, { body: { priority: 'p4' } });
    await page.getByText('priority').first().waitFor();
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText(`The branch is at ${moved} now. You read ${read}.`).waitFor();
    await opened(page, 2);
    const approval = page.getByRole('button', { name: /^Approve / });
    expect(await approval.count()).toBe(0);
    await page.getByRole('button', { name: 'Land now' }).click();
    await page.getByTestId('toast').getByText(`is no longer at ${read}`).waitFor();
    await page.getByRole('button', { name: 'Go on with the new commit' }).click();
    await approval.getByText(`Approve ${moved}`).waitFor();
    expect(faults.filter((fault) => !fault.includes('409'))).toStrictEqual([]);
    await page.context().close();
  });

  test('between reading and approving is refused, and the page says so and shows the new commit', async () => {
    const scene = reviewed();
    const id = await inReview(scene, FIFTY);
    await using served = await serveRepository(scene.folder);
    const { page } = await openPage(browser, served.server, `/tasks/${id}`);
    await opened(page, 50);
    const worktree = path.join(scene.folder, '.worktrees', id);
    const moved = commitFile(worktree, 'more.txt');
    await page.getByRole('button', { name: /^Approve / }).click();
    await page.getByTestId('toast').getByText('is no longer at').waitFor();
    await page.getByText(`The branch is at ${moved.slice(0, 10)} now.`).waitFor();
    expect((await scene.tasks()).get(id)?.status).toBe('in_review');
    await page.getByRole('button', { name: 'Show the new commit' }).click();
    await opened(page, 51);
    await page.getByRole('button', { name: `Approve ${moved.slice(0, 10)}` }).click();
    await state(page, 'landing').waitFor();
  });
});

/** Paths and contents that would do harm as markup, as terminal output or to a reader. A finish refuses such paths. */
function commitHostile(worktree: string): void {
  const write = (name: string, content: string | Buffer) => writeFileSync(path.join(worktree, name), content);
  write(
    '<img src=x onerror="globalThis.harmed=1">.html',
    '<script>globalThis.harmed = 1</script>\n\u001b[31mred\u001b[0m\n\u202eedoc\n',
  );
  write('line\nfeed.txt', 'x');
  write('binary.dat', Buffer.from([0, 1, 2]));
  write('latin.txt', Buffer.from('caf\u00e9\n', 'latin1'));
  write('long.txt', `${'y'.repeat(1_200_000)}\n`);
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: hostile');
}

describe('hostile paths and contents', () => {
  test.each([
    ['1440', LAPTOP],
    ['390', PHONE],
  ] as const)('are text at %s, without faults and with access for all', async (size, screen) => {
    const scene = reviewed();
    const title = '<script>globalThis.harmed = 1</script>';
    const id = await inReview(scene, 'commit work one.txt', title);
    commitHostile(path.join(scene.folder, '.worktrees', id));
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}`, screen);
    await page.getByRole('heading', { name: title }).waitFor();
    await opened(page, 6);
    const diff = page.getByRole('region', { name: 'Differences' });
    // The line is longer than a page of the patch.
    const more = page.getByRole('button', { name: 'Read more of the patch' });
    const long = files(page).filter({ hasText: 'long.txt' });
    expect(await long.isEnabled()).toBe(false);
    while (!(await long.isEnabled())) await more.click({ timeout: 5_000 }).catch(() => {});
    const code = diff.getByText('<script>globalThis.harmed = 1</script>');
    await code.first().waitFor();
    await diff
      .getByText(String.raw`\x1b[31mred`)
      .first()
      .waitFor();
    await diff
      .getByText(String.raw`\u202eedoc`)
      .first()
      .waitFor();
    await files(page).filter({ hasText: 'long.txt' }).click();
    await diff.getByText(/yyyy … \(1199000 more characters\)/).waitFor();
    await page
      .getByText(`Long lines are cut here in long.txt. To read them whole: copse review ${id}`)
      .waitFor();
    await page
      .getByText(String.raw`line\nfeed.txt`)
      .first()
      .waitFor();
    expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
    await expectFits(page);
    await expectAccessible(page);
    await shoot(page, `task-hostile-${size}`);
    for (const part of ['Timeline', 'Output', 'Details']) {
      await page.getByRole('tab', { name: part }).click();
      await page.locator(`[data-part=${part.toLowerCase()}]`).waitFor();
      await expectFits(page);
      await expectAccessible(page);
      await shoot(page, `task-${part.toLowerCase()}-${size}`);
    }
    expect(faults).toStrictEqual([]);
  });
});

test('a task that is opened again shows what happened while another page was open', async () => {
  const scene = reviewed();
  const id = await scene.add('Before', 'true');
  await using served = await serveRepository(scene.folder);
  const { page } = await openPage(browser, served.server, `/tasks/${id}`);
  await page.getByRole('heading', { name: 'Before', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Board' }).click();
  await page.getByRole('link', { name: 'Before' }).waitFor();
  await printed(['edit', id, '--title', 'After'], scene.at);
  await page.getByRole('link', { name: 'After' }).click();
  await expect.poll(() => page.locator('h1').innerText()).toBe('After');
});

test('a task that does not exist says so, with the next step', async () => {
  const scene = reviewed();
  await using served = await serveRepository(scene.folder);
  const { page } = await openPage(browser, served.server, '/tasks/cp-none');
  await page.getByText('copse list').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Go to the board' }).click();
  await page.getByText('The board is empty.').waitFor();
  expect(page.url()).toBe(`${served.server.url}/board`);
});
