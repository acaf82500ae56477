/** How soon a person who opens the board sees its cards, with nothing cached and a board that changed a moment ago. */

import type { Browser } from 'playwright-core';

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { contextOf } from '../../boards.ts';
import { notedIn } from '../../browser/in-page.ts';
import { newBrowser, storiedRepository, visit } from '../../browser/pages.ts';
import { type Bench, type Result, type Row, inMs, median, quantile } from '../../row.ts';
import { type Serving, serve } from '../../serving.ts';

const GOALS_MS = new Map([
  [1_000, 1_000],
  [10_000, 1_500],
]);

export const browserPaint: Row = {
  name: 'browser-paint',
  timeoutMs: 300_000,
  async measure(bench) {
    const browser = await newBrowser(bench);
    const boards = await Promise.all(
      [1, ...GOALS_MS.keys()].map(async (tasks) => Object.assign(await servedBoard(bench, tasks), { tasks })),
    );
    const timesMs = new Map(boards.map(({ tasks }) => [tasks, [] as number[]]));
    for (let turn = -1; turn < (bench.isQuick ? 5 : 15); turn += 1) {
      for (const { tasks, serving, change } of turn % 2 === 0 ? boards : boards.toReversed()) {
        await change();
        const tookMs = await firstCard(browser, serving);
        if (turn >= 0) timesMs.get(tasks)?.push(tookMs);
      }
    }
    for (const { serving, close } of boards) await Promise.all([serving.stop(), close()]);
    return [...GOALS_MS].map(([tasks, goalMs]): Result => {
      const mine = timesMs.get(tasks) ?? [];
      return {
        what: `first cards of the board in a browser, ${tasks.toLocaleString('en')} tasks`,
        measured: `${inMs(median(mine))}, slowest ${inMs(quantile(mine, 1))}`,
        against: `1 task: ${inMs(median(timesMs.get(1) ?? []))}`,
        figure: median(mine),
        goal: { atMost: goalMs, unit: 'ms' },
        limit: null,
      };
    });
  },
};

async function servedBoard(bench: Bench, tasks: number) {
  const repository = await storiedRepository(bench, tasks);
  const serving = await serve(bench, repository);
  const { board } = await openContext({ cwd: repository, env: process.env });
  let changes = 0;
  return {
    serving,
    /** So that no answer of before can be given again. */
    change: async () => {
      changes += 1;
      await addTask(contextOf(board), { title: `Change ${changes}` });
    },
    close: () => board.close(),
  };
}

/** Since the browser began to open the address. */
async function firstCard(browser: Browser, serving: Serving): Promise<number> {
  const page = await visit(browser, serving, '/board');
  await page.locator('article[data-task]').first().waitFor();
  for (;;) {
    const { firstCardMs } = await notedIn(page);
    if (firstCardMs === null) continue;
    await page.context().close();
    return firstCardMs;
  }
}
