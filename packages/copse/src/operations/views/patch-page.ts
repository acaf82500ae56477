/** The beginning of a patch. An agent can commit more than a server has memory for, so git is asked for a page only. */

import { isUtf8 } from 'node:buffer';

export interface PatchPage {
  /** Null when it is not UTF-8. */
  readonly text: string | null;
  /** Of this page. */
  readonly bytes: number;
  readonly cut: string | null;
}

const CHARACTER_BYTES = 4;

/** A character more than wanted is asked for, which says whether there is more. */
export function bytesToAsk(most: number): number {
  return most + CHARACTER_BYTES;
}

export interface PatchPageOptions {
  readonly isLossy?: boolean;
  /** The bytes on earlier pages. */
  readonly skipped?: number;
}

/**
 * Cut after a line, or after a character of a line that is longer than a page: every page brings something, if it may have
 * any bytes at all.
 */
export function patchPage(
  patch: Buffer,
  most: number,
  { isLossy = false, skipped = 0 }: PatchPageOptions = {},
): PatchPage {
  const isAll = patch.length <= most;
  const page = isAll ? patch : patch.subarray(0, pageEnd(patch, most));
  const bytes = page.length;
  const which = skipped === 0 ? `the first ${bytes} bytes` : `bytes ${skipped + 1} to ${skipped + bytes}`;
  return {
    text: isLossy || isUtf8(page) ? page.toString() : null,
    bytes,
    cut: isAll ? null : `${which} of the patch`,
  };
}

function pageEnd(patch: Buffer, most: number): number {
  if (most === 0) return 0;
  const line = patch.lastIndexOf('\n', most - 1) + 1;
  if (line > 0) return line;
  const within = (at: number) => ((patch[at] ?? 0) & 0xc0) === 0x80;
  let end = most;
  while (end > 0 && most - end < CHARACTER_BYTES && within(end)) end -= 1;
  if (end > 0) return end;
  // The first character has more bytes than the page.
  for (end = most; end < CHARACTER_BYTES && within(end);) end += 1;
  return end;
}
