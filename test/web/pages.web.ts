/** Every page with boards of every size, on a laptop and a phone, light and dark, without a jump; while it loads; and without an answer. */

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea } from '../support/cli.ts';
import { isLong } from '../support/long.ts';
import { busyRepository } from '../support/records/busy-board.ts';
import { LAPTOP, PHONE, type OpenedPage, openBrowser, openPage } from '../support/server/browser.ts';
import { expectAccessible, expectFits, shoot, watchShifts } from '../support/server/page-checks.ts';
import { called, serveRepository } from '../support/server/served-repository.ts';
import type { Served } from '../support/server/served.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

interface PageCase {
  readonly path: string;
  /** What it says on an empty board: each with what to do next. */
  readonly empty: string;
  readonly next: string;
  /** What it shows of a board with tasks. */
  readonly full: (page: Page) => Locator;
}

const PAGES: Readonly<Record<string, PageCase>> = {
  Inbox: {
    path: '/inbox',
    empty: 'Nothing needs you now.',
    next: 'copse orchestrate',
    full: (page) => page.locator('article[data-selected=true]').getByText('copse ').first(),
  },
  Board: {
    path: '/board',
    empty: 'The board is empty.',
    next: 'copse add "Fix the login page"',
    full: (page) => page.locator('[data-task=cp-qaaa]').getByRole('link', { name: '≠ 1' }),
  },
  List: {
    path: '/board?view=list',
    empty: 'The board is empty.',
    next: 'copse add "Fix the login page"',
    full: (page) => page.getByRole('region', { name: 'Tasks' }).locator('[data-task=cp-ffff]'),
  },
  Task: {
    path: '/tasks/cp-eeee',
    empty: 'The board has no task "cp-eeee".',
    next: 'copse list',
    full: (page) => page.getByRole('region', { name: 'Differences' }).getByText('limit').first(),
  },
  Queue: {
    path: '/queue',
    empty: 'Nothing waits to land.',
    next: 'copse merge <task>',
    full: (page) => page.getByRole('list', { name: 'Entries in the order of landing' }),
  },
  Radar: {
    path: '/radar',
    empty: 'No unfinished task has a branch.',
    next: 'copse orchestrate',
    full: (page) => page.getByText(/\d branches of unfinished tasks · [1-9]\d* conflicts?/),
  },
  Plans: {
    path: '/plans',
    empty: 'There is no plan.',
    next: 'copse plan add "Faster start" --body "Why, and how"',
    full: (page) => page.getByRole('region', { name: 'Dependency graph' }),
  },
  Fleet: {
    path: '/fleet',
    empty: 'No machine has joined this board.',
    next: 'copse orchestrate',
    full: (page) => page.getByRole('heading', { name: 'build-box' }),
  },
  Health: {
    path: '/health',
    empty: 'No agent worked in the last 8 weeks.',
    next: 'copse orchestrate',
    full: (page) => page.locator('canvas').first(),
  },
  History: {
    path: '/history',
    empty: 'The board has no events yet.',
    next: 'copse add "Fix the login page"',
    full: (page) => page.getByRole('region', { name: 'Ready, in the past' }).getByRole('article').first(),
  },
};

/** Branches were compared before the first page asks. */
async function serve(tasks: number): Promise<Served> {
  const served = await serveRepository(await busyRepository(area, { tasks }));
  await called(served, 'GET /radar');
  return served;
}

const SIZES = [
  ['a laptop', LAPTOP],
  ['a phone', PHONE],
] as const;

async function shown(page: Page, { full, empty, next }: PageCase, tasks: number): Promise<void> {
  if (tasks > 0) return full(page).waitFor();
  await page.getByText(empty).first().waitFor();
  return page.getByRole('main').getByText(next, { exact: true }).first().waitFor();
}

/** A browser of a phone also has a finger: `COPSE_LONG=1 npm run test:web` has one. Otherwise the window becomes as narrow. */
const BROWSERS = SIZES.slice(0, isLong ? 2 : 1);

describe.each([0, 20, 10_000])('with %i tasks', (tasks) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(tasks);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  describe.each(BROWSERS)('in the browser of %s', (_, options) => {
    let opened: OpenedPage;
    beforeAll(async () => {
      opened = await openPage(browser, served.server, '/history', options);
      await watchShifts(opened.page);
    });
    afterAll(() => opened.page.context().close());

    test.each(Object.entries(PAGES))(
      '%s is drawn without faults, fits, and is accessible, light and dark',
      async (name, one) => {
        const { page, faults } = opened;
        const before = faults.length;
        await page.setViewportSize(options.viewport);
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(`${served.server.url}${one.path}`);
        await shown(page, one, tasks);
        expect(await page.evaluate(() => globalThis.shifts)).toStrictEqual([]);
        for (const [size, { viewport }] of SIZES) {
          await page.setViewportSize(viewport);
          await shown(page, one, tasks);
          // Only what is near the screen is drawn.
          expect(await page.locator('article').count()).toBeLessThan(150);
          await expectFits(page);
          await expectAccessible(page);
          await shoot(page, `${name}-${tasks}-${size.replace(/\W/g, '-')}`);
          await page.emulateMedia({ colorScheme: 'dark' });
        }
        // What only a laptop shows.
        await page.setViewportSize(LAPTOP.viewport);
        await expectAccessible(page, ['color-contrast']);
        // That there is no such task is logged by the browser as a failed request.
        const isMissing = name === 'Task' && tasks === 0;
        const found = faults.slice(before).filter((fault) => !(isMissing && /status of 404/.test(fault)));
        expect(found).toStrictEqual([]);
      },
    );
  });
});

/** Requests that ask the server about the board; those by which a page enters and follows it are others. */
const ASKS = /\/api\/v1\/(?!enter|ticket|stream)/;

describe('without an answer', () => {
  let served: Served;
  let page: Page;
  beforeAll(async () => {
    served = await serve(20);
    ({ page } = await openPage(browser, served.server, '/history', PHONE));
    await PAGES['History']?.full(page).waitFor();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test.each(Object.entries(PAGES))('%s says that an answer failed, and what to do next', async (_, one) => {
    await page.context().route(ASKS, (route) => route.fulfill({ status: 500, body: 'no' }));
    await page.goto(`${served.server.url}${one.path}`);
    const alert = page.getByRole('alert').first();
    await alert.getByText('The server answered 500.').waitFor();
    await alert.getByText('copse doctor', { exact: true }).waitFor();
    await expectFits(page);
    await expectAccessible(page);
    await page.context().unroute(ASKS);
    // A page of records may have tried again meanwhile, without a person.
    const again = alert.getByRole('button', { name: 'Try again' });
    await again.dispatchEvent('click', {}, { timeout: 1_000 }).catch(() => {});
    await one.full(page).waitFor();
    expect(page.url()).toContain(one.path);
  });
});

describe.runIf(isLong)('with a slow server, and without one', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(20);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  const cases = SIZES.flatMap(([size, options]) =>
    Object.entries(PAGES).map(([name, one]) => ({ name, size, one, options })),
  );

  test.each(cases)('$name on $size says what it reads, and nothing jumps when it is there', async (given) => {
    const { one, options } = given;
    const { page, faults } = await openPage(browser, served.server, '/history', options);
    await PAGES['History']?.full(page).waitFor();
    const held: (() => void)[] = [];
    let isHolding = true;
    await page.context().route(ASKS, async (route) => {
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await watchShifts(page);
    await page.goto(`${served.server.url}${one.path}`);
    await page
      .getByText(/^Reading .+ …$/)
      .first()
      .waitFor();
    const heading = page.getByRole('heading', { level: 1 });
    const before = await heading.boundingBox();
    isHolding = false;
    for (const release of held) release();
    await one.full(page).waitFor();
    expect(await heading.boundingBox()).toStrictEqual(before);
    expect(await page.evaluate(() => globalThis.shifts)).toStrictEqual([]);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('when the server ends, what was read stays, and other pages say how to go on', async () => {
    const other = await serve(20);
    const { page } = await openPage(browser, other.server, '/board');
    await PAGES['Board']?.full(page).waitFor();
    // No page may be loaded ahead.
    await page.context().route('**/assets/**', (route) => route.abort());
    await other[Symbol.asyncDispose]();
    await page.getByText('No connection to the server; trying again.').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    const alert = page.getByRole('alert');
    await alert.getByText('copse serve', { exact: true }).waitFor();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor();
    await expectAccessible(page);
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await PAGES['Board']?.full(page).waitFor();
    expect(await page.getByRole('article').count()).toBeGreaterThan(5);
    await page.context().close();
  });
});
