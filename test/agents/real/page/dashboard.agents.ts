/**
 * Real Claude, seen and led from the dashboard alone: after `copse orchestrate --dashboard` runs, everything is done in a browser.
 * What the model says comes from the scripted server, which waits where a test has to see something first.
 */

import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { endAgents } from '../../../support/agents/scripted-agents.ts';
import { finished, newArea, startCopse } from '../../../support/cli.ts';
import type { Step } from '../../../support/model-server/protocol.ts';
import { type ModelServer, startModelServer } from '../../../support/model-server/server.ts';
import { run, saidTo, say, together } from '../../../support/model-server/steps.ts';
import { enterPage, openBrowser } from '../../../support/server/browser.ts';
import { OwnTmux } from '../../../support/server/output.ts';
import { removeHome } from '../programs.ts';
import { type Kind, Site } from '../site.ts';

const area = newArea();
const tmux = new OwnTmux(area, 'after all');
const homes: string[] = [];
let server: ModelServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([startModelServer(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
  endAgents(area);
  homes.forEach(removeHome);
});

const claude: Kind = { runtime: 'claude', program: 'claude' };
const review = { landing: { policy: 'review' } };

/** The model waits with this step. */
const when =
  (ready: Promise<void>, step: Step): Step =>
  async (request) => {
    await ready;
    return typeof step === 'function' ? step(request) : step;
  };

/** `copse orchestrate --dashboard`, and a browser that followed the address that it printed. */
async function orchestrating(site: Site) {
  const env = { ...site.at.env, TMUX_TMPDIR: tmux.folder };
  const home = mkdtempSync(path.join(area, 'home '));
  const child = startCopse(['orchestrate', '--dashboard'], {
    cwd: site.folder,
    env: { ...env, HOME: home },
  });
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = finished(child);
  let address: string | undefined;
  while ((address = /^.*?(http:\/\/\S+#code=\S+)$/m.exec(printed)?.[1]) === undefined) {
    if (child.exitCode !== null) throw new Error((await ended).stderr);
    await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  }
  const { page, faults } = await enterPage(browser, address);
  // Other real programs run beside this one.
  page.setDefaultTimeout(90_000);
  return {
    page,
    faults,
    async [Symbol.asyncDispose]() {
      await page.context().close();
      child.kill('SIGINT');
      await ended;
    },
  };
}

async function addTask(page: Page, title: string): Promise<void> {
  await page.getByRole('link', { name: 'Board' }).click();
  await page.getByRole('button', { name: 'Add a task' }).first().click();
  await page.getByLabel('What to do, in a few words').fill(title);
  await page.getByRole('button', { name: 'Add the task' }).click();
  await page.getByRole('link', { name: title }).first().click();
  await page.getByRole('heading', { name: title }).waitFor();
}

/** Once more if the page says that the press came too soon after the question. */
async function answer(page: Page, name: string): Promise<void> {
  const asks = page.getByRole('region', { name: 'Its agent asks' });
  const tooSoon = page.getByTestId('toast').getByText('asks this only now');
  const press = () => asks.getByRole('button', { name, exact: true }).click();
  await press();
  const isTooSoon = await Promise.race([
    asks.waitFor({ state: 'detached' }).then(() => false),
    tooSoon.waitFor().then(
      () => true,
      () => false,
    ),
  ]);
  if (!isTooSoon) return;
  await page.waitForTimeout(1_000);
  await press();
  await asks.waitFor({ state: 'detached' });
}

const state = (page: Page, status: string) => page.locator(`dd[data-status=${status}]`);
const files = (page: Page) => page.getByRole('navigation', { name: 'Changed files' }).getByRole('button');
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const lines = (page: Page) => page.getByRole('region', { name: 'Lines of output' });

test('a task is added, worked on, reviewed, sent back, approved, landed and undone, in one conversation with Claude', async () => {
  const site = new Site({ area, server, homes });
  const seen = Promise.withResolvers<void>();
  const seenAgain = Promise.withResolvers<void>();
  const files3 = 'mkdir -p src; for n in 1 2 3; do echo "export const n = $n;" > src/file-$n.ts; done';
  const key = site.addAgent(
    'coder',
    claude,
    [
      together(say('I begin with three files.'), run(files3)),
      when(seen.promise, run("git add --all && git commit --quiet -m 'feat: three files'")),
      say('Three files are done.'),
      together(say('I read your comments.'), run("echo '// the second' >> src/file-2.ts")),
      when(seenAgain.promise, run("git commit --quiet --all -m 'fix: say which'")),
      say('It says which now.'),
    ],
    review,
  );
  await using orchestrator = await orchestrating(site);
  const { page, faults } = orchestrator;
  await addTask(page, 'Three files');

  await tab(page, 'Output').click();
  await lines(page).getByText('I begin with three files.').waitFor();
  seen.resolve();
  await state(page, 'in_review').waitFor();
  await lines(page).getByText('Three files are done.').waitFor();

  await tab(page, 'Changes').click();
  await files(page).nth(2).waitFor();
  await page.getByRole('button', { name: 'Comment on a line of src/file-2.ts' }).click();
  await page.getByLabel('What should change here?').fill('Say which one.');
  await page.getByRole('button', { name: 'Add the comment' }).click();
  await page.getByLabel('A comment on the whole').fill('Nearly there.');
  await page.getByRole('button', { name: 'Send back with 1 comment' }).click();

  await tab(page, 'Output').click();
  await lines(page).getByText('I read your comments.').waitFor();
  seenAgain.resolve();
  await state(page, 'in_review').waitFor();
  const heard = server.turns(key).map((request) => saidTo(request));
  expect(heard).toHaveLength(6);
  for (const text of ['Nearly there.', 'src/file-2.ts:1', 'Say which one.', 'Three files are done.'])
    expect(heard[3]).toContain(text);

  await tab(page, 'Changes').click();
  await page.getByRole('button', { name: 'Since the last review' }).click();
  await page.getByText('// the second').first().waitFor();
  expect(await files(page).count()).toBe(1);
  await page.getByRole('button', { name: /^Approve / }).click();
  await state(page, 'done').waitFor();
  expect(site.log()).toContain('fix: say which');
  expect(site.read('src/file-2.ts')).toBe('export const n = 2;\n// the second\n');

  await page.getByRole('button', { name: 'Undo the landing' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo the landing' }).click();
  await page
    .getByText(/^(Being undone|Undone) by/)
    .getByRole('link')
    .click();
  await page.getByRole('heading', { name: /Undo/ }).waitFor();
  const approval = page.getByRole('button', { name: /^Approve / });
  await approval.or(state(page, 'done')).first().waitFor();
  if (await approval.isVisible()) await approval.click();
  await state(page, 'done').waitFor();
  expect(() => site.read('src/file-2.ts')).toThrow('ENOENT');
  expect(site.read('greeting.txt')).toBe('hello\n');
  expect(faults).toStrictEqual([]);
  expect(await site.events('session.opened')).toHaveLength(1);
  expect(await site.processes()).toEqual([]);
});

test('Claude in tmux is seen in its terminal, asks and is answered in place, is typed to after a take-over, and given back', async () => {
  const site = new Site({ area, server, homes });
  const typed = Promise.withResolvers<void>();
  const key = site.addAgent(
    'coder',
    claude,
    [
      run('rm -f greeting.txt'),
      when(
        typed.promise,
        run("echo 'hello, Ada' > greeting.txt; git commit --quiet --all -m 'feat: greet Ada'"),
      ),
      say('Greeted.'),
      say('Greeted, as you said.'),
    ],
    { ...review, permissions: 'ask', terminal: 'tmux' },
  );
  await using orchestrator = await orchestrating(site);
  const { page, faults } = orchestrator;
  await addTask(page, 'Greet Ada');
  await tab(page, 'Output').click();
  const asks = page.getByRole('region', { name: 'Its agent asks' });
  await asks.getByText('rm -f greeting.txt').waitFor();
  const terminal = page.locator('.xterm-rows');
  await terminal.getByText('Greet Ada').first().waitFor();
  await answer(page, 'Deny');
  // Nothing is typed before it is taken over.
  await page.locator('.xterm-screen').click();
  await page.keyboard.type('never said');
  await page.getByRole('button', { name: 'Take over' }).click();
  await page.locator('[data-typing=true]').waitFor();
  await page.keyboard.type('Greet her loudly.');
  await terminal.getByText('Greet her loudly.').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Give back' }).click();
  await page.getByText('Read-only. Take over to type.').waitFor();
  typed.resolve();
  await asks.getByText('hello, Ada').waitFor();
  await answer(page, 'Allow');
  await state(page, 'in_review').waitFor();
  const heard = server
    .turns(key)
    .map((request) => saidTo(request))
    .join('\n');
  expect(heard).toContain('Greet her loudly.');
  expect(heard).not.toContain('never said');
  expect(await site.processes()).toEqual([]);
  expect(faults).toStrictEqual([]);
});
