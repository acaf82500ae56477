/** What every page of the dashboard must keep: no violation that axe finds, no sideways scrolling, pictures for people. */

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** WCAG A and AA, or only these rules. The page's policy refuses a script element, so it is evaluated. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as {
      axe: { run(root: unknown, options: object): Promise<{ violations: Violation[] }> };
    };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const runOnly = only === null ? { type: 'tag', values: tags } : { type: 'rule', values: only };
    const { violations } = await axe.run('html', { runOnly });
    return violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => ({ html, failureSummary })),
    }));
  }, rules ?? null);
  expect(found).toStrictEqual([]);
}

/** A page that is wider than the screen is cut off on a phone. */
export async function expectFits(page: Page): Promise<void> {
  const [width, screen] = await page
    .locator('main')
    .evaluate((main: { readonly scrollWidth: number; readonly clientWidth: number }) => [
      main.scrollWidth,
      main.clientWidth,
    ]);
  expect(width).toBeLessThanOrEqual(screen ?? 0);
}

/** From the next page on, `globalThis.shifts` tells what moved on the screen without a person having moved it. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries())
        if (!hadRecentInput && value > 0.001)
          globalThis.shifts.push(value.toFixed(3) + ' ' + sources.map(({ node }) => node?.outerHTML?.slice(0, 120)));
    }).observe({ type: 'layout-shift', buffered: true });
  `);
}

declare global {
  var shifts: string[];
}

/** With COPSE_SHOTS a picture of the page is kept in that folder, light and dark. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['COPSE_SHOTS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) });
  }
}
