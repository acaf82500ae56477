/** The content of a file that Copse keeps, as far as it was read. Pure. */

import type { OutputOf } from '../../api/operations.ts';

export interface ReadContent {
  readonly pages: readonly Uint8Array<ArrayBuffer>[];
  /** The byte to read on from; null: all of it was read. */
  readonly next: number | null;
}

export const nothingRead: ReadContent = { pages: [], next: 0 };

export function withPage(
  { pages }: ReadContent,
  { content, next }: Pick<OutputOf<'artifact.content'>, 'content' | 'next'>,
): ReadContent {
  return { pages: [...pages, Uint8Array.from(atob(content), (letter) => letter.codePointAt(0) ?? 0)], next };
}

export function readBytes({ pages }: ReadContent): number {
  return pages.reduce((sum, { length }) => sum + length, 0);
}

/** The first bytes as text. A character that goes on behind them is left out. */
export function contentText(content: ReadContent, most: number): string {
  const decoder = new TextDecoder();
  let [text, left] = ['', most];
  for (const page of content.pages) {
    text += decoder.decode(page.subarray(0, left), { stream: true });
    left = Math.max(0, left - page.length);
  }
  const isAll = content.next === null && readBytes(content) <= most;
  return isAll ? text + decoder.decode() : text;
}

/** As git sees it: a zero byte near the beginning is no text. */
export function isBinary({ pages: [first] }: ReadContent): boolean {
  return first?.subarray(0, 8_000).includes(0) === true;
}
