/**
 * Quotes texts of people and agents inside Copse's own Markdown, so that a reader can always tell the two apart: the fence is
 * longer than any run of backticks inside, so the text cannot end it, and control characters are made visible.
 */

import { shown } from '../../../kernel/text.ts';
import type { Excerpt } from './briefing.ts';

const SHORTEST = 3;

export function fenced(text: string | Excerpt): string {
  const { text: inner, omitted } = typeof text === 'string' ? { text, omitted: 0 } : text;
  const harmless = visible(inner);
  const fence = '`'.repeat(Math.max(SHORTEST, longestRun(harmless) + 1));
  const end = harmless === '' || harmless.endsWith('\n') ? '' : '\n';
  const cut = omitted > 0 ? `\n(The last ${omitted} characters are left out here.)` : '';
  return `${fence}text\n${harmless}${end}${fence}${cut}`;
}

/** One line for each text, whatever it contains. */
export function fencedLines(lines: readonly string[], length: number): string {
  return fenced(lines.map((line) => oneLine(line, length)).join('\n'));
}

/** At most `length` characters, without line breaks. */
export function oneLine(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return visible(cut).replaceAll('\n', String.raw`\n`);
}

/** A name or path inside a sentence. */
export function quoted(text: string, length: number): string {
  const line = oneLine(text, length);
  const ticks = '`'.repeat(longestRun(line) + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${space}${line}${space}${ticks}`;
}

/**
 * Besides terminal controls, also characters that a model reads and a person does not see: Unicode line separators, and tag
 * characters, which can hide whole sentences.
 */
function visible(text: string): string {
  return shown(text).replaceAll(
    /[\u2028\u2029\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
