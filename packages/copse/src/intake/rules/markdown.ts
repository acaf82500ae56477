/**
 * `- [ ]` lists in Markdown. An item's text is the text below it that is indented further; items below it come first.
 *
 * An item has no id in the file. It gets one from its first title; later it is found by its title, or, when exactly its title
 * changed, as the known item whose words are most alike. So an edited line stays one item. An item that is done is found by its
 * title only: another line with similar words is new work.
 */

import type { Item } from './item.ts';
import { textMark } from './item.ts';

export interface ListEntry {
  /** Number of its line, from 0. */
  readonly line: number;
  readonly title: string;
  readonly body: string;
  readonly isTicked: boolean;
  /** Positions in the list of the entries below it. */
  readonly children: readonly number[];
}

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
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => /^\s*/.exec(line)?.[0].length ?? 0);
  const least = indents.length === 0 ? 0 : Math.min(...indents);
  return lines
    .map((line) => line.slice(Math.min(least, line.length)).trimEnd())
    .join('\n')
    .replaceAll(/^\n+|\n+$/g, '');
}

/** What is known of an item of the file. */
export type KnownEntry = Pick<Item, 'item' | 'title' | 'isClosed' | 'report'>;

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
  for (const entry of entries)
    take(
      entry,
      [...left].find(({ title }) => title === entry.title),
    );
  for (const item of left) if (item.isClosed || item.report?.phase === 'done') left.delete(item);
  const others = entries.filter((one) => !ids.has(one) && !one.isTicked);
  // Where one line changed, one common word is enough.
  const least = others.length === 1 && left.size === 1 ? Number.MIN_VALUE : ALIKE;
  for (const entry of others) take(entry, mostAlike(entry.title, [...left], least));
  const used = new Set(known.map(({ item }) => item));
  return entries.map((entry) => {
    const id = ids.get(entry) ?? freeId(file, entry.title, used);
    used.add(id);
    return { ...entry, id };
  });
}

const ALIKE = 0.5;

/** Undefined: none shares as many words. */
function mostAlike(title: string, items: readonly KnownEntry[], least: number): KnownEntry | undefined {
  const shares = items.map((item) => shareOfWords(title, item.title));
  const best = Math.max(0, ...shares);
  return best >= least ? items[shares.indexOf(best)] : undefined;
}

function shareOfWords(one: string, other: string): number {
  const [left, right] = [one, other].map(
    (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []),
  ) as [Set<string>, Set<string>];
  const all = left.union(right).size;
  return all === 0 ? 0 : left.intersection(right).size / all;
}

function freeId(file: string, title: string, used: ReadonlySet<string>): string {
  const first = `${file}:${textMark(title, '').slice(0, 8)}`;
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? first : `${first}-${number}`;
    if (!used.has(id)) return id;
  }
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
