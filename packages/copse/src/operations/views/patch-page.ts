/** The beginning of a patch. An agent can commit more than a server has memory for, so git is asked for a page only. */

import { isUtf8 } from 'node:buffer';

export interface PatchPage {
  /** Null when it is not UTF-8. */
  readonly text: string | null;
  /** Of this page. */
  readonly bytes: number;
  readonly cut: string | null;
}

/** One byte more than wanted is asked for, which says whether there is more. */
export function bytesToAsk(most: number): number {
  return most + 1;
}

/** Cut after a line, or after a character of a line that is longer than a page: every page brings something. */
export function patchPage(patch: Buffer, most: number, { isLossy = false } = {}): PatchPage {
  const isAll = patch.length <= most;
  const lastLine = patch.lastIndexOf('\n', Math.max(most - 1, 0)) + 1;
  const page = isAll ? patch : patch.subarray(0, lastLine || characterEnd(patch, most));
  return {
    text: isLossy || isUtf8(page) ? page.toString() : null,
    bytes: page.length,
    cut: isAll ? null : `the first ${page.length} bytes of the patch`,
  };
}

/** The last end of a character at or before this byte. */
function characterEnd(patch: Buffer, most: number): number {
  let end = most;
  while (end > 0 && most - end < 4 && ((patch[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}
