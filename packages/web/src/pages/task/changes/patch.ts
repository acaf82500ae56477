/**
 * The sections of a patch, each with the file of the server's list that it belongs to. A reviewer approves what the list says, so
 * whatever does not fit it is found here: sections and files come in the same order, a file whose type changes has two sections,
 * paths are the same, and the lines of a file add up.
 */

import { shown, shownPath } from '../../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../../api/operations.ts';
import {
  type Hunk,
  type Section,
  given,
  pathOf,
  sectionOf,
  sectionTexts,
  unquoted,
} from '../../../parts/patch/sections.ts';

export type ChangedFile = NonNullable<OutputOf<'review.show'>['change']>['files'][number];

export interface FilePatch {
  readonly file: ChangedFile;
  /** The path as it is shown. */
  readonly name: string;
  /** Of the content after the change and its mode: another one means that the file changed. */
  readonly contentKey: string;
  /** What the file is, if it is or was not just a file: executable, a symbolic link, a submodule. */
  readonly kind: string | null;
  readonly isBinary: boolean;
  /** It has lines that are longer than what is shown of a line. */
  readonly isCut: boolean;
  readonly hunks: readonly Hunk[];
  /** Null: it has no lines to show. */
  readonly text: string | null;
}

export interface SplitPatch {
  readonly patches: readonly FilePatch[];
  /** Files whose patch is on a later page. */
  readonly missing: number;
  /** The patch does not fit the list of files: what is shown may be less than what lands. */
  readonly mismatch: string | null;
}

export function splitPatch(text: string, files: readonly ChangedFile[], isWhole: boolean): SplitPatch {
  const texts = sectionTexts(text);
  // The last one may go on on the next page.
  const sections = (isWhole ? texts : texts.slice(0, -1)).map(sectionOf);
  const patches: FilePatch[] = [];
  const paths = new Set<string>();
  let at = 0;
  for (const file of files) {
    const own = sections.slice(at, at + sectionCount(file));
    if (own.length < sectionCount(file)) break;
    // Names that are not UTF-8 can look the same, and the view knows a file by its name.
    const problem = paths.has(file.path)
      ? `two files look like ${shownPath(file.path)}`
      : mismatchOf(file, own);
    paths.add(file.path);
    if (problem !== null) return { patches, missing: files.length - patches.length, mismatch: problem };
    patches.push(filePatch(file, own));
    at += own.length;
  }
  const next = files[patches.length];
  const lacking = isWhole && next !== undefined ? `${shownPath(next.path)} is missing` : null;
  const isMore = next === undefined && at < sections.length;
  return {
    patches,
    missing: files.length - patches.length,
    mismatch: isMore ? 'the patch has more files' : lacking,
  };
}

/** Git removes a file and makes another one when a file becomes a link or a submodule. */
function sectionCount({ change }: ChangedFile): number {
  return change === 'type_changed' ? 2 : 1;
}

function mismatchOf({ path, from, lines }: ChangedFile, sections: readonly Section[]): string | null {
  const name = shownPath(path);
  if (!sections.every((section) => pathOf(section) === path)) return `${name} is at another place`;
  const moved = sections.flatMap(({ header }) => given(header, 'rename from ') ?? []);
  if (from !== null && moved.length > 0 && unquoted(moved[0] ?? '') !== from)
    return `${name} has another old name`;
  const hunks = sections.flatMap((section) => section.hunks);
  const isCounted = lines !== null && !sections.some(({ isBinary }) => isBinary);
  // Git counts a change with another algorithm than it prints it, but both add the same number of lines.
  const added = hunks.reduce((sum, { inserted, deleted }) => sum + inserted - deleted, 0);
  const fits = isCounted ? added === lines.inserted - lines.deleted : lines === null;
  return fits && hunks.every(({ isWhole }) => isWhole) ? null : `${name} has other lines`;
}

function filePatch(file: ChangedFile, sections: readonly Section[]): FilePatch {
  const header = sections.flatMap((section) => section.header);
  const modes = modesOf(header);
  const after = sections.flatMap((section) => given(section.header, 'index ') ?? []).at(-1);
  const [, id] = /^[0-9a-f]+\.\.([0-9a-f]+)/.exec(after ?? '') ?? [];
  const hunks = sections.length === 1 ? (sections[0]?.hunks ?? []) : joined(sections);
  const lines = hunks.map(({ text }) => text).join('');
  return {
    file,
    name: shownPath(file.path),
    contentKey: `${id ?? `${file.change}:${file.from ?? ''}`} ${modes.after ?? ''}`,
    kind: kindText(modes),
    isBinary: sections.some(({ isBinary }) => isBinary),
    isCut: hunks.some(({ longest }) => longest > LONGEST_LINE),
    hunks,
    text: lines === '' ? null : `${(sections[0]?.header ?? []).join('\n')}\n${lines}`,
  };
}

/** All lines that were there are deleted, and all that are there now inserted: as one hunk, because each file has one view. */
function joined(sections: readonly Section[]): readonly Hunk[] {
  const hunks = sections.flatMap((section) => section.hunks);
  const [one, other] = hunks;
  if (one === undefined || other === undefined) return hunks;
  const [before, after] = [one.before, other.after];
  const first = `@@ -${before.start},${before.count} +${after.start},${after.count} @@\n`;
  const bodies = hunks.map(({ text }) => text.slice(text.indexOf('\n') + 1));
  const text = first + bodies.join('');
  const [deleted, inserted] = [before.count, after.count];
  const longest = Math.max(one.longest, other.longest);
  return [{ before, after, inserted, deleted, lead: 0, longest, text, isWhole: true }];
}

interface Modes {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function modesOf(header: readonly string[]): Modes {
  const same = /^[0-9a-f]+\.\.[0-9a-f]+ (\d+)$/.exec(given(header, 'index ') ?? '')?.[1];
  return {
    before: given(header, 'old mode ') ?? given(header, 'deleted file mode ') ?? same,
    after: given(header, 'new mode ') ?? given(header, 'new file mode ') ?? same,
  };
}

const KINDS: Readonly<Record<string, string>> = {
  100644: 'file',
  100755: 'executable',
  120000: 'symbolic link',
  160000: 'submodule',
};

function kindText({ before, after }: Modes): string | null {
  const [was, is] = [before, after].map((mode) => mode && (KINDS[mode] ?? mode));
  if (was !== undefined && is !== undefined && was !== is) return `${was} → ${is}`;
  const kind = is ?? was;
  return kind === undefined || kind === 'file' ? null : kind;
}

/** Longer lines make every browser slow, and no person reads them. */
const LONGEST_LINE = 1_000;

/** A line of a file with its line end: hidden characters become visible, a very long line is cut. */
export function shownLine(line: string): string {
  const content = line.endsWith('\n') ? line.slice(0, -1) : line;
  const end = line.slice(content.length);
  const cut = content.length > LONGEST_LINE ? content.slice(0, LONGEST_LINE) : content;
  const more = content.length - cut.length;
  // A carriage return before the line end is part of many files and harmless there.
  const text = shown(cut.endsWith('\r') ? cut.slice(0, -1) : cut);
  // Nearly every line stays the string that it was: a new one for each would double the memory.
  if (text === content) return line;
  return `${text}${more > 0 ? ` … (${more} more characters)` : ''}${end}`;
}
