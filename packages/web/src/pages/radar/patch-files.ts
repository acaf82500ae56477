/** A patch of git, file by file. Only for reading: names come from its own headers, and lines stay as they are. */

import { pathOf, sectionOf, sectionTexts } from '../../parts/patch/sections.ts';

interface FileOfPatch {
  readonly name: string;
  readonly lines: readonly string[];
}

/** A longer line says nothing to a reader. */
const LONGEST_LINE = 500;
const MOST_LINES = 2_000;

export function filesOfPatch(patch: string): readonly FileOfPatch[] {
  return sectionTexts(patch).map((text) => {
    const section = sectionOf(text);
    const body = section.hunks
      .map((hunk) => hunk.text)
      .join('')
      .replace(/\n$/, '');
    const lines = section.isBinary
      ? ['Binary files differ']
      : body === ''
        ? []
        : body.split('\n', MOST_LINES);
    return { name: pathOf(section) ?? '', lines: lines.map((line) => line.slice(0, LONGEST_LINE)) };
  });
}
