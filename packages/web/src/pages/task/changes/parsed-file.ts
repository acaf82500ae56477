/** A file of a change as the view draws it. */

import { type FileDiffMetadata, getFiletypeFromFileName, processFile } from '@pierre/diffs';

import { shownPath } from '../../../../../copse/src/kernel/text.ts';
import { highlightedAs } from './languages.ts';
import { type FilePatch, shownLine } from './patch.ts';

/** Names and lines are replaced by safe ones; the numbers of lines stay. Throws rather than leave out a line. */
export function parsedFile({ file, name, text, hunks }: FilePatch): FileDiffMetadata {
  const found = text === null ? undefined : processFile(text, { isGitDiff: true, throwOnError: true });
  const deletionLines = (found?.deletionLines ?? []).map(shownLine);
  const additionLines = (found?.additionLines ?? []).map(shownLine);
  const [before, after] = [count(hunks.map((hunk) => hunk.before)), count(hunks.map((hunk) => hunk.after))];
  if (deletionLines.length !== before || additionLines.length !== after)
    throw new Error(`The patch of ${name} cannot be shown whole.`);
  return {
    hunks: [],
    splitLineCount: 0,
    unifiedLineCount: 0,
    isPartial: true,
    ...found,
    // The header of a file without lines, or with two sections, does not say it.
    type: found === undefined || file.change === 'type_changed' ? TYPES[file.change] : found.type,
    name,
    ...(file.from !== null && { prevName: shownPath(file.from) }),
    lang: highlightedAs(getFiletypeFromFileName(file.path)),
    deletionLines,
    additionLines,
  } as FileDiffMetadata;
}

const count = (ranges: readonly { readonly count: number }[]) =>
  ranges.reduce((sum, range) => sum + range.count, 0);

const TYPES = {
  added: 'new',
  deleted: 'deleted',
  modified: 'change',
  renamed: 'rename-pure',
  copied: 'new',
  type_changed: 'change',
} as const;
