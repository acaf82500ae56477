/**
 * Every operation of the registry that has a place in the page: once with the mouse, once with the keyboard, and once by typing
 * the command line that the page shows. Each time the board is asked afterwards, through the command line.
 */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { lineOf } from '../../../packages/web/src/shell/palette/command-lines.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { answer, copse, newArea, newRepository, printed } from '../../support/cli.ts';
import { openBrowser, openPage } from '../../support/server/browser.ts';
import { OwnTmux } from '../../support/server/output.ts';
import { expectAccessible } from '../../support/server/page-checks.ts';
import { serveRepository } from '../../support/server/served-repository.ts';
import type { Served } from '../../support/server/served.ts';
import { leaveForm, perform, ways } from './driver.ts';
import { lifeOfATask } from './life-of-a-task.ts';
import type { Step } from './step.ts';
import { intake, machines, settings } from './surroundings.ts';
import { rescues, stopsAndEnds } from './what-people-do.ts';
import { type World, newWorld } from './world.ts';

const area = newArea();
const tmux = new OwnTmux(area, 'after all');
let browser: Browser;
let world: World;
let served: Served;
let page: Page;

beforeAll(async () => {
  world = await newWorld(area, tmux);
  [browser, served] = await Promise.all([openBrowser(), serveRepository(world.cwd)]);
  ({ page } = await openPage(browser, served.server, '/fleet'));
  await page.getByRole('region', { name: 'Machines' }).waitFor();
});
afterAll(async () => {
  await browser.close();
  await served[Symbol.asyncDispose]();
  await world.end();
  endAgents(area);
});

const parts = [lifeOfATask, stopsAndEnds, rescues, intake, machines, settings];

/** What the steps above cannot show: it needs a board that is empty. */
const ALONE = ['board.import'];

describe.each(ways)('by %s', (way) => {
  const done: string[] = [];
  // Their order is that of a day, so one that fails ends it.
  test.each(parts.map((part) => [part.name, part] as const))('%s', async (_, part) => {
    for (const step of part(world, way)) {
      done.push(step.name);
      await expect(doStep(step, way)).resolves.toBeUndefined();
    }
  });

  test('a board is imported into an empty one', async () => {
    const cwd = newRepository(area);
    await printed(['list'], { cwd });
    const file = path.join(cwd, 'board.jsonl');
    // It says that it is without the files of artifacts.
    writeFileSync(file, (await copse(['export'], { cwd: world.cwd })).stdout);
    await using other = await serveRepository(cwd);
    const opened = await openPage(browser, other.server, '/board');
    await opened.page.getByText('The board is empty.').waitFor();
    await perform(opened.page, way, 'board.import', { text: file }, { cwd });
    await opened.page.getByText('Asks mouse').first().waitFor();
    const { tasks } = await answer<{ tasks: readonly object[] }>(['list', '--all'], { cwd });
    expect(tasks.length).toBeGreaterThan(6);
    await opened.page.context().close();
  });

  test('that was all of them', () => {
    const offered = operations.map(({ name }) => name).filter((name) => lineOf(name as never) !== undefined);
    expect([...new Set([...done, ...ALONE])].toSorted()).toStrictEqual(offered.toSorted());
  });
});

async function doStep({ name, fields, shows, after }: Step, way: (typeof ways)[number]): Promise<void> {
  try {
    const seen = await perform(page, way, name, (await fields?.()) ?? {}, { cwd: world.cwd });
    expect(seen).toContain(shows?.() ?? '');
    await after?.(seen);
  } catch (error) {
    // The next part begins with a page on which nothing is open.
    await page.goto(`${served.server.url}/fleet`);
    throw new Error(`${name} by ${way}: ${String(error)}`, { cause: error });
  }
}

test('a form of the palette is accessible, says what is missing, and shows a refusal without losing what was typed', async () => {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('task.pause');
  await page.keyboard.press('Enter');
  const form = page.locator('form[data-operation="task.pause"]');
  await expectAccessible(page);
  await form.getByText('copse pause …').waitFor();
  await page.keyboard.press('Enter');
  expect(await form.getByLabel('Task').evaluate((input) => input.matches(':invalid'))).toBe(true);
  await page.keyboard.type('cp-none');
  await page.keyboard.press('Enter');
  await form.getByRole('alert').getByText('cp-none').first().waitFor();
  expect(await form.getByLabel('Task').inputValue()).toBe('cp-none');
  await leaveForm(page);
});
