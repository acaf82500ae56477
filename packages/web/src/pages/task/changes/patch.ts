/**
 * A patch of git, cut into its files and made safe to show. Files and their patches come in the same order; paths are taken
 * from the list of files, because git quotes them inside a patch.
 */

import { shown } from '../../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../../api/operations.ts';

export type ChangedFile = NonNullable<OutputOf<'review.show'>['change']>['files'][number];

export interface FilePatch {
  readonly file: ChangedFile;
  /** The path as it is shown. */
  readonly name: string;
  /** Of the content after the change: another one means that the file changed. */
  readonly contentKey: string;
  /** Null: binary. */
  readonly text: string | null;
}

export interface SplitPatch {
  readonly patches: readonly FilePatch[];
  /** Files whose patch is on a later page. */
  readonly missing: number;
}

/** A line that begins so is never content: content begins with a space, a sign or a letter that encodes its length. */
const HEADER = /^diff --git /m;

export function splitPatch(text: string, files: readonly ChangedFile[], isWhole: boolean): SplitPatch {
  const parts = text.split(new RegExp(HEADER, 'gm')).slice(1);
  // The last one may go on on the next page.
  const whole = isWhole ? parts : parts.slice(0, -1);
  const patches = whole.flatMap((part, at) => {
    const file = files[at];
    return file === undefined ? [] : [filePatch(file, `diff --git ${part}`)];
  });
  return { patches, missing: files.length - patches.length };
}

function filePatch(file: ChangedFile, text: string): FilePatch {
  const header = text.slice(0, HEADER_LENGTH).split(/^(?:@@|GIT binary)/m, 1)[0] ?? '';
  const after = /^index [0-9a-f]+\.\.([0-9a-f]+)/m.exec(header)?.[1];
  const isBinary = file.lines === null;
  return {
    file,
    name: shownPath(file.path),
    contentKey: after ?? `${file.change}:${file.from ?? ''}`,
    text: isBinary ? null : text,
  };
}

const HEADER_LENGTH = 40_000;

/** A path in one line. */
export function shownPath(path: string): string {
  return shown(path)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
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
