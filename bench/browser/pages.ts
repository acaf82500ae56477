/** Pages of a real browser at `copse serve`. */

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import { LAPTOP, openBrowser } from '../../test/support/server/browser.ts';
import { manyStories } from '../../test/support/records/many-stories.ts';
import { type Story, ends, tell } from '../../test/support/records/stories.ts';
import { launcher, newRepository, run } from '../commands.ts';
import type { Bench } from '../row.ts';
import type { Serving } from '../serving.ts';
import { noteIn } from './in-page.ts';

export async function newBrowser(bench: Bench, args: readonly string[] = []): Promise<Browser> {
  const browser = await openBrowser(args);
  bench.atEnd(() => browser.close());
  return browser;
}

/** With tasks in every state; most are ready or done. The further ones are worked on. */
export async function storiedRepository(
  bench: Bench,
  tasks: number,
  { working = [] }: { readonly working?: readonly string[] } = {},
): Promise<string> {
  const repository = await newRepository(bench);
  run([launcher, 'list'], repository);
  const further = working.map((id, index): Story => {
    return { id, title: `Part ${index}`, minutes: 1, end: ends.running, definition: { priority: 5 } };
  });
  await tell(repository, [...manyStories(tasks), ...further]);
  return repository;
}

/** A person's first visit: nothing is cached, and the code in the address is used up. */
export async function visit(
  browser: Browser,
  serving: Serving,
  path: string,
  { words = /(?!)/, ...options }: BrowserContextOptions & { readonly words?: RegExp } = {},
): Promise<Page> {
  const context = await browser.newContext({ ...LAPTOP, ...options });
  const page = await context.newPage();
  await noteIn(page, words);
  await page.goto(await serving.address(path), { waitUntil: 'commit' });
  return page;
}

/** The page says by which event it stands. */
export async function untilAtEvent(page: Page, number: number): Promise<void> {
  await page.waitForFunction(
    (least) => {
      const { document } = globalThis as unknown as {
        document: { querySelector(selector: string): { readonly textContent: string } | null };
      };
      const [, at = '0'] =
        /live · (\d+)/.exec(document.querySelector('[data-connection]')?.textContent ?? '') ?? [];
      return Number(at) >= least;
    },
    number,
    { polling: 'raf', timeout: 120_000 },
  );
}

/** What the scripts of the page hold, without what can be collected. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1_000_000;
}
