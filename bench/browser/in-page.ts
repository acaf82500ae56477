/**
 * What is noted inside a page, by its own clock, from before its first script. Only what is drawn counts: things are looked
 * for after the frame in which they changed.
 */

import type { Page } from 'playwright-core';

export interface Noted {
  /** Since the navigation; null until a card can be seen. */
  firstCardMs: number | null;
  /** Times between two frames, since `begin`. */
  framesMs: number[];
  /** Words of titles on the screen, with the time of day at which they were drawn first. */
  readonly seenAt: Record<string, number>;
}

/** As much of a browser as the code below uses. */
interface PageScope {
  copseNoted: Noted;
  readonly document: Pick<PageNode, 'querySelectorAll'> & { readonly documentElement: PageNode };
  readonly innerHeight: number;
  requestAnimationFrame(run: (atMs: number) => void): void;
  readonly MutationObserver: new (run: () => void) => {
    observe(root: PageScope['document'], options: object): void;
  };
}

interface PageNode {
  readonly textContent: string | null;
  querySelectorAll(selector: string): Iterable<PageNode>;
  checkVisibility(options: object): boolean;
  getBoundingClientRect(): { readonly top: number; readonly bottom: number };
}

/** Words that match are noted once each. */
export async function noteIn(page: Page, words: RegExp): Promise<void> {
  await page.addInitScript((source) => {
    const scope = globalThis as unknown as PageScope;
    const noted: Noted = { firstCardMs: null, framesMs: [], seenAt: {} };
    scope.copseNoted = noted;
    const pattern = new RegExp(source, 'g');
    const { port1, port2 } = new MessageChannel();
    let isLooking = false;
    // A message comes after the frame was drawn.
    port2.addEventListener('message', () => {
      isLooking = false;
      for (const card of scope.document.querySelectorAll('article[data-task]')) {
        if (noted.firstCardMs === null && card.checkVisibility({ visibilityProperty: true }))
          noted.firstCardMs = performance.now();
        for (const [word] of card.textContent?.matchAll(pattern) ?? []) {
          if (noted.seenAt[word] !== undefined) continue;
          const { top, bottom } = card.getBoundingClientRect();
          if (bottom > 0 && top < scope.innerHeight) noted.seenAt[word] = Date.now();
        }
      }
    });
    port2.start();
    const look = () => {
      if (isLooking) return;
      isLooking = true;
      scope.requestAnimationFrame(() => port1.postMessage(null));
    };
    new scope.MutationObserver(look).observe(scope.document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ['style'],
    });
    let lastMs = 0;
    const frame = (atMs: number) => {
      if (lastMs > 0) noted.framesMs.push(atMs - lastMs);
      lastMs = atMs;
      scope.requestAnimationFrame(frame);
    };
    scope.requestAnimationFrame(frame);
  }, words.source);
}

export function notedIn(page: Page): Promise<Noted> {
  return page.evaluate(() => (globalThis as unknown as PageScope).copseNoted);
}

export async function forgetFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    (globalThis as unknown as PageScope).copseNoted.framesMs = [];
  });
}
