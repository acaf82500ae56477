/** Lines of a change that a comment can be on. */

import type { FilePatch } from './patch.ts';

export interface LinePlace {
  readonly path: string;
  readonly line: number;
  readonly endLine: number;
  readonly side: 'new' | 'old';
}

/** The first changed line of a file, which is always shown. */
export function firstPlace({ file, hunks }: Pick<FilePatch, 'file' | 'hunks'>): LinePlace {
  const [hunk] = hunks;
  const side = file.change === 'deleted' || hunk?.inserted === 0 ? 'old' : 'new';
  const range = side === 'old' ? hunk?.before : hunk?.after;
  const line = hunk === undefined || range === undefined ? 1 : range.start + hunk.lead;
  return { path: file.path, line, endLine: line, side };
}

/** Only lines of hunks are shown. */
export function isShownLine(
  { hunks }: Pick<FilePatch, 'hunks'>,
  { endLine, side }: Omit<LinePlace, 'path' | 'line'>,
): boolean {
  return hunks.some(({ before, after }) => {
    const { start, count } = side === 'old' ? before : after;
    return endLine >= start && endLine < start + count;
  });
}
