/** An open board with ten thousand tasks while a hundred events a second come, for a minute. */

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { forgetFrames, notedIn } from '../../browser/in-page.ts';
import { writeLives } from '../../browser/lives.ts';
import { heapMegabytes, newBrowser, storiedRepository, untilAtEvent, visit } from '../../browser/pages.ts';
import { type Row, inMs, median, quantile } from '../../row.ts';
import { serve } from '../../serving.ts';

const TASKS = 10_000;
const PER_SECOND = 100;
const GOALS = { frameMs: 100, megabytes: 20 } as const;
const SETTLE_MS = 5_000;

export const browserFlood: Row = {
  name: 'browser-flood',
  timeoutMs: 300_000,
  async measure(bench) {
    const seconds = bench.isQuick ? 15 : 60;
    const repository = await storiedRepository(bench, TASKS);
    const { board } = await openContext({ cwd: repository, env: process.env });
    const serving = await serve(bench, repository);
    const browser = await newBrowser(bench);
    const page = await visit(browser, serving, '/board');
    await untilAtEvent(page, await board.lastEvent());
    // Some events before, so that what the page makes only once does not count as growth.
    await writeLives(board, { seconds: 2, perSecond: PER_SECOND, name: 'y' });
    await page.waitForTimeout(SETTLE_MS);
    const beforeMegabytes = await heapMegabytes(page);

    await forgetFrames(page);
    const rate = await writeLives(board, { seconds, perSecond: PER_SECOND, name: 'z' });
    const { framesMs } = await notedIn(page);
    await untilAtEvent(page, await board.lastEvent());
    await page.waitForTimeout(SETTLE_MS);
    const grownMegabytes = (await heapMegabytes(page)) - beforeMegabytes;
    await Promise.all([board.close(), page.context().close()]);
    await serving.stop();

    const p99 = quantile(framesMs, 0.99);
    const beside = {
      against: `${Math.round(rate)} events/s for ${seconds} s`,
      limit: null,
      broken: rate < PER_SECOND * 0.9 ? `Only ${rate.toFixed(0)} events a second were written.` : undefined,
    };
    return [
      {
        ...beside,
        what: `frames of a board with ${TASKS.toLocaleString('en')} tasks, p99`,
        measured: `${inMs(median(framesMs))}, p99 ${inMs(p99)}, longest ${inMs(quantile(framesMs, 1))}`,
        figure: p99,
        goal: { atMost: GOALS.frameMs, unit: 'ms' },
      },
      {
        ...beside,
        what: 'growth of its heap meanwhile',
        measured: `${grownMegabytes.toFixed(1)} MB on ${beforeMegabytes.toFixed(1)} MB`,
        figure: grownMegabytes,
        goal: { atMost: GOALS.megabytes, unit: 'MB' },
      },
    ];
  },
};
