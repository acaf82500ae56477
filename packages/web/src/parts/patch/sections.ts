/**
 * A patch of git, cut into its sections: one for each changed file, two for a file that becomes a link. Only a line feed ends a
 * line. An agent can write all other line ends of JavaScript (`\r`, U+2028, U+2029) into a file, so no pattern with the flag `m`
 * may look for a header here.
 */

export interface Section {
  /** Without the lines of its hunks, and without line feeds. */
  readonly header: readonly string[];
  readonly hunks: readonly Hunk[];
  readonly isBinary: boolean;
}

/** The lines of a side are numbered from its `start`. */
export interface Hunk {
  readonly before: LineRange;
  readonly after: LineRange;
  readonly inserted: number;
  readonly deleted: number;
  /** As many unchanged lines come before its first changed one. */
  readonly lead: number;
  /** Characters of its longest line, without sign and line feed. */
  readonly longest: number;
  /** With its header; each line with its line feed. */
  readonly text: string;
  /** It has as many lines as its header says. */
  readonly isWhole: boolean;
}

interface LineRange {
  readonly start: number;
  readonly count: number;
}

const BEGINNING = 'diff --git ';

/** What comes before the first one is a section too, so that none of the patch is lost. */
export function sectionTexts(patch: string): readonly string[] {
  if (patch === '') return [];
  const texts: string[] = [];
  for (let from = 0; from !== -1;) {
    const next = patch.indexOf(`\n${BEGINNING}`, from);
    texts.push(patch.slice(from, next === -1 ? undefined : next + 1));
    from = next === -1 ? -1 : next + 1;
  }
  return texts;
}

export function sectionOf(text: string): Section {
  const header: string[] = [];
  let at = 0;
  while (at < text.length) {
    const line = lineAt(text, at);
    if (/^(?:@@ |GIT binary patch\n|Binary files )/.test(line)) break;
    header.push(line.replace(/\n$/, ''));
    at += line.length;
  }
  const isBinary = at < text.length && !text.startsWith('@@ ', at);
  return { header, hunks: isBinary ? [] : hunksOf(text, at), isBinary };
}

/** Undefined when it is no section of git. */
export function pathOf({ header }: Section): string | undefined {
  const [first = ''] = header;
  if (!first.startsWith(BEGINNING)) return undefined;
  const moved = given(header, 'rename to ') ?? given(header, 'copy to ');
  if (moved !== undefined) return unquoted(moved);
  const side = [given(header, '+++ '), given(header, '--- ')].find(
    (name) => name !== undefined && name !== '/dev/null',
  );
  if (side !== undefined) return unquoted(side.replace(/\t$/, '')).slice('b/'.length);
  const names = first.slice(BEGINNING.length);
  // Both names are the same: the file has no lines, or is binary.
  const one = unquoted(names.slice(0, (names.length - 1) / 2)).slice('a/'.length);
  const other = unquoted(names.slice((names.length + 1) / 2)).slice('b/'.length);
  return one === other ? one : undefined;
}

/** The line of the header that begins so, without its beginning. */
export function given(header: readonly string[], beginning: string): string | undefined {
  return header.find((line) => line.startsWith(beginning))?.slice(beginning.length);
}

/** Git quotes names with control characters and bytes outside ASCII. */
export function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const escapes: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (const [, octal, escape, plain = ''] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (escape !== undefined) bytes.push(escapes[escape] ?? escape.charCodeAt(0));
    else bytes.push(...encoder.encode(plain));
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array(bytes));
}

function hunksOf(text: string, from: number): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (let at = from; at < text.length;) {
    const hunk = hunkAt(text, at);
    hunks.push(hunk);
    at += hunk.text.length;
  }
  return hunks;
}

/** Its header says how many lines it has. What is more than that, up to the next header, is no part of a hunk of git. */
function hunkAt(text: string, from: number): Hunk {
  const first = lineAt(text, from);
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(first);
  const [, start = '0', count = '1', startAfter = '0', countAfter = '1'] = found ?? [];
  const before = { start: Number(start), count: Number(count) };
  const after = { start: Number(startAfter), count: Number(countAfter) };
  let [inserted, deleted, unchanged, lead, others, longest] = [0, 0, 0, 0, 0, 0];
  let at = from + first.length;
  while (at < text.length && !text.startsWith('@@ ', at)) {
    const sign = text[at];
    if (sign === '+') inserted += 1;
    else if (sign === '-') deleted += 1;
    else if (sign === ' ') unchanged += 1;
    else if (sign !== '\\') others += 1;
    if (inserted + deleted === 0) lead = unchanged;
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    longest = Math.max(longest, end - at - 1);
    at = end + 1;
  }
  const isWhole =
    found !== null &&
    others === 0 &&
    deleted + unchanged === before.count &&
    inserted + unchanged === after.count;
  return { before, after, inserted, deleted, lead, longest, text: text.slice(from, at), isWhole };
}

function lineAt(text: string, from: number): string {
  const end = text.indexOf('\n', from);
  return text.slice(from, end === -1 ? undefined : end + 1);
}
