/**
 * Texts of others inside a text of Copse's own, in Markdown, so that a reader can always tell the two apart: the fence
 * around them is longer than any run of backticks inside, so nothing inside can end it, and control characters are shown.
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

/** Lines of others, one each, whatever they hold. */
export function fencedLines(lines: readonly string[], length: number): string {
  return fenced(lines.map((line) => oneLine(line, length)).join('\n'));
}

/** One line that stays one, at most so long. */
export function oneLine(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return visible(cut).replaceAll('\n', String.raw`\n`);
}

/** What one word or path is called inside a sentence of Copse's own. */
export function quoted(text: string, length: number): string {
  const line = oneLine(text, length);
  const ticks = '`'.repeat(longestRun(line) + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${space}${line}${space}${ticks}`;
}

/**
 * Beside what no terminal should obey, what a person does not see and a model reads: separators that some take for a new
 * line, and the tag characters, in which whole sentences can be hidden.
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
