import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { finished, newArea, printed, startCopse } from '../../support/cli.ts';
import { PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible, expectFits, shoot } from '../../support/server/page-checks.ts';
import { called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
const HOSTILE = '<img src=x onerror=alert(1)> "quoted"';

/** Waits while it is told to, and fails where a file says so. */
const CHECK = `echo x >> "$HOLD.count"
while test -f "$HOLD"; do sleep 0.05; done
test ! -f broken
`;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  endAgents(area);
});

/** Finished tasks that wait for a person; the first one breaks the check. */
async function reviewed(titles: readonly string[]): Promise<{
  readonly scene: Scene;
  readonly ids: readonly string[];
  readonly hold: string;
}> {
  const hold = path.join(area, `hold ${Math.random().toString(36).slice(2)}`);
  const checks = { test: { command: 'sh check.sh', env: { HOLD: hold } } };
  const scene = newScene(area, { sections: { landing: { policy: 'review', slots: 1, checks } } });
  writeFileSync(path.join(scene.folder, 'check.sh'), CHECK);
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: checks');
  const ids: string[] = [];
  for (const [index, title] of titles.entries())
    ids.push(
      await scene.add(title, `commit "$COPSE_TASK_ID" ${index === 0 ? 'broken' : '"$COPSE_TASK_ID"'}`),
    );
  await scene.up();
  return { scene, ids, hold };
}

const queueOf = (page: Page) => page.getByRole('region', { name: 'Queue of main' });

describe('the queue page', () => {
  test('a batch that fails is shown splitting until the guilty task is found', async () => {
    const { scene, ids, hold } = await reviewed([HOSTILE, 'Second', 'Third', 'Fourth']);
    const [guilty = '', second = ''] = ids;
    await printed(['queue', 'pause', '--reason', 'release <b>day</b>'], scene.at);
    await printed(['queue', 'retry', ...ids], scene.at);
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/queue');
    const queue = queueOf(page);

    await queue.getByText('nothing lands (release <b>day</b>)').waitFor();
    await queue.getByText(HOSTILE).waitFor();
    // A leader would not land anything either.
    expect(await queue.getByText('No leader').count()).toBe(0);
    expect(await queue.getByRole('listitem').filter({ hasText: 'no estimate' }).count()).toBe(4);
    await expectAccessible(page);
    await shoot(page, 'queue-paused');

    // By keyboard; the button names its command.
    const resume = queue.getByRole('button', { name: 'Resume landing' });
    expect(await resume.getAttribute('data-command')).toBe('copse queue resume --land --target main');
    await resume.focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('toast').getByText('main lands again.').waitFor();
    await queue.getByText('nothing lands').waitFor({ state: 'detached' });
    await queue.getByText('No leader').waitFor();

    writeFileSync(hold, '');
    const leader: ChildProcess = startCopse(['orchestrate'], scene.at);
    const ended = finished(leader);
    try {
      await queue.getByText('The same as a list').click();
      const runs = queue.getByRole('list', { name: 'Runs of the checks' });
      await runs.getByText(/a batch of 4: .*running for/).waitFor();
      expect(await queue.getByText(`being checked with`).count()).toBe(4);
      await shoot(page, 'queue-batch');
      rmSync(hold);
      await runs.getByText(/a batch of 4: .*failed after/).waitFor();
      await runs
        .getByText(/half of a failed batch: .*failed after/)
        .first()
        .waitFor();
      // What was not guilty lands; what was leaves the queue.
      await queue.getByText('the queue is empty').waitFor({ timeout: 60_000 });
      await queue.getByRole('link', { name: second }).first().waitFor();
    } finally {
      leader.kill('SIGINT');
      await ended;
    }
    const { queues } = await called<{ queues: readonly { ended: readonly object[] }[] }>(
      served,
      'GET /queues',
    );
    const runs = (queues[0]?.ended ?? []) as readonly { run: number; about: string[]; of: number | null }[];
    const whole = runs.find(({ about }) => about.length === 4) ?? expect.fail('There was a batch of four');
    expect(runs).toContainEqual(
      expect.objectContaining({ purpose: 'half', ending: 'failed', of: whole.run, about: [guilty, second] }),
    );

    await expectAccessible(page);
    await shoot(page, 'queue-split');
    const phone = await openPage(browser, served.server, '/queue', PHONE);
    await queueOf(phone.page).getByText('the queue is empty').waitFor();
    await expectFits(phone.page);
    await expectAccessible(phone.page);
    await shoot(phone.page, 'queue-split-phone');
    expect([...faults, ...phone.faults]).toStrictEqual([]);
    expect(existsSync(`${hold}.count`)).toBe(true);
    await page.context().close();
    await phone.page.context().close();
  });

  test('an entry goes to the front, and is taken out', async () => {
    const { scene, ids } = await reviewed(['One', 'Two', 'Three']);
    await printed(['queue', 'retry', ...ids], scene.at);
    await using served = await serveRepository(scene.folder);
    const { page, faults } = await openPage(browser, served.server, '/queue', PHONE);
    const entries = queueOf(page).getByRole('list', { name: 'Entries in the order of landing' });
    const entry = (title: string) => entries.getByRole('listitem').filter({ hasText: title });
    await entry('Three').getByRole('button', { name: 'To the front' }).click();
    await entries.getByRole('listitem').first().getByText('Three').waitFor();
    await entry('Three').getByText('hotfix').waitFor();
    await entry('Two').getByRole('button', { name: 'Take out' }).click();
    await entry('Two').waitFor({ state: 'detached' });
    expect((await scene.statuses())['Two']).toBe('in_review');
    await expectFits(page);
    await expectAccessible(page);
    await shoot(page, 'queue-entries-phone');
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});
