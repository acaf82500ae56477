/**
 * `- [ ]` lists in Markdown. An item's text is the text below it that is indented further; items below it come first.
 *
 * An item has no id in the file. It gets one from its first title; later it is found by its title, or, when exactly its title
 * changed, as the known item whose words are most alike. So an edited line stays one item. An item whose task has begun, or is
 * done, is found by its title only: another line with similar words is new work.
 *
 * Every step is linear in the text, or limited by MOST_ENTRIES: an agent may have written the file.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { type Item, textMark } from './item.ts';

export interface ListEntry {
  /** Number of its line, from 0. */
  readonly line: number;
  readonly title: string;
  readonly body: string;
  readonly isTicked: boolean;
  /** Positions in the list of the entries below it. */
  readonly children: readonly number[];
}

/** In one file. */
export const MOST_ENTRIES = defaultPolicy.sources.mostEntries;

const ENTRY = /^(\s*)(?:[-*+]|\d{1,9}[.)])(\s+)\[([ xX])\]\s+(\S.*)$/;
const FENCE = /^\s*(`{3,}|~{3,})/;

export function parseList(text: string): readonly ListEntry[] {
  const lines = text.split(/\r?\n/);
  const found: (Omit<ListEntry, 'body' | 'children'> & {
    indent: number;
    body: string[];
    children: number[];
  })[] = [];
  const open: number[] = [];
  let fence: string | null = null;
  for (const [line, content] of lines.entries()) {
    const mark = FENCE.exec(content)?.[1];
    const isFence = mark !== undefined && (fence === null || mark.startsWith(fence));
    const entry = fence === null && !isFence ? ENTRY.exec(content) : null;
    const indent = widthOf(/^\s*/.exec(content)?.[0] ?? '');
    if (content.trim() !== '')
      while (open.length > 0 && indent <= (found[open.at(-1) ?? 0]?.indent ?? 0)) open.pop();
    const above = found[open.at(-1) ?? -1];
    if (isFence) fence = fence === null ? (mark ?? null) : null;
    if (entry === null) {
      above?.body.push(content);
      continue;
    }
    if (found.length >= MOST_ENTRIES)
      throw new Error(`The list has more than ${MOST_ENTRIES} boxes. Divide it into several files.`);
    const [, , , box = ' ', title = ''] = entry;
    above?.children.push(found.length);
    open.push(found.length);
    found.push({ line, title: title.trim(), isTicked: box !== ' ', indent, body: [], children: [] });
  }
  return found.map(({ line, title, isTicked, children, body }) => {
    return { line, title, isTicked, children, body: dedented(body) };
  });
}

function widthOf(space: string): number {
  let width = 0;
  for (const one of space) width += one === '\t' ? 4 - (width % 4) : 1;
  return width;
}

function dedented(lines: readonly string[]): string {
  const isText = (line: string) => line.trim() !== '';
  const [first, last] = [lines.findIndex(isText), lines.findLastIndex(isText)];
  if (first === -1) return '';
  const text = lines.slice(first, last + 1);
  const least = text
    .filter(isText)
    .reduce((indent, line) => Math.min(indent, line.length - line.trimStart().length), Infinity);
  return text.map((line) => line.slice(Math.min(least, line.length)).trimEnd()).join('\n');
}

/** What is known of an item of the file. */
export interface KnownEntry extends Pick<Item, 'item' | 'title' | 'isClosed'> {
  /** Its task has not begun, so it may get another text. */
  readonly isWaiting: boolean;
}

export interface IdentifiedEntry extends ListEntry {
  readonly id: string;
}

/** `known`: the items of this file. */
export function identify(
  file: string,
  entries: readonly ListEntry[],
  known: readonly KnownEntry[],
): readonly IdentifiedEntry[] {
  const ids = new Map<ListEntry, string>();
  const left = new Set(known);
  const take = (entry: ListEntry, item: KnownEntry | undefined) => {
    if (item === undefined) return;
    left.delete(item);
    ids.set(entry, item.item);
  };
  const byTitle = Map.groupBy(known.toReversed(), ({ title }) => title);
  for (const entry of entries) take(entry, byTitle.get(entry.title)?.pop());
  for (const item of left) if (item.isClosed || !item.isWaiting) left.delete(item);
  const others = entries.filter((one) => !ids.has(one) && !one.isTicked);
  // Where one line changed, one common word is enough.
  const least = others.length === 1 && left.size === 1 ? Number.MIN_VALUE : ALIKE;
  const wordsOfItem = new Map([...left].map((item) => [item, wordsIn(item.title)]));
  for (const entry of others) {
    const item = mostAlike(wordsIn(entry.title), wordsOfItem, least);
    take(entry, item);
    if (item !== undefined) wordsOfItem.delete(item);
  }
  const free = freeIds(file, new Set(known.map(({ item }) => item)));
  return entries.map((entry) => ({ ...entry, id: ids.get(entry) ?? free(entry.title) }));
}

const ALIKE = 0.5;

/** Undefined: none shares as many words. */
function mostAlike(
  words: ReadonlySet<string>,
  items: ReadonlyMap<KnownEntry, ReadonlySet<string>>,
  least: number,
): KnownEntry | undefined {
  let best: { readonly item: KnownEntry; readonly share: number } | undefined;
  for (const [item, own] of items) {
    const share = shareOfWords(words, own);
    if (share >= least && share > (best?.share ?? 0)) best = { item, share };
  }
  return best?.item;
}

function wordsIn(title: string): ReadonlySet<string> {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.slice(0, MOST_WORDS));
}

/** Words of a title that are compared. */
const MOST_WORDS = 50;

function shareOfWords(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const word of one) if (other.has(word)) common += 1;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

function freeIds(file: string, used: Set<string>): (title: string) => string {
  const last = new Map<string, number>();
  return (title) => {
    const first = `${file}:${textMark(title, '').slice(0, 8)}`;
    for (let number = (last.get(first) ?? 0) + 1; ; number += 1) {
      const id = number === 1 ? first : `${first}-${number}`;
      if (used.has(id)) continue;
      last.set(first, number);
      used.add(id);
      return id;
    }
  };
}

/** The file an item is in. */
export function fileOfItem(item: string): string {
  return item.slice(0, item.lastIndexOf(':'));
}

/** The text with these lines ticked; line endings and everything else stay. */
export function withTicks(text: string, lines: ReadonlySet<number>): string {
  return text
    .split('\n')
    .map((content, line) => (lines.has(line) ? content.replace(/\[ \]/, '[x]') : content))
    .join('\n');
}
