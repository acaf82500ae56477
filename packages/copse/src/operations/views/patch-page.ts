/** The beginning of a patch. An agent can commit more than a server has memory for, so git is asked for a page only. */

import { isUtf8 } from 'node:buffer';

export interface PatchPage {
  /** Null when it is not UTF-8. */
  readonly text: string | null;
  readonly cut: string | null;
}

/** One byte more than wanted is asked for, which says whether there is more. */
export function bytesToAsk(most: number): number {
  return most + 1;
}

/** Cut after a line, so that no character is cut. */
export function patchPage(patch: Buffer, most: number): PatchPage {
  if (patch.length <= most) return { text: isUtf8(patch) ? patch.toString() : null, cut: null };
  const page = patch.subarray(0, patch.lastIndexOf('\n', Math.max(most - 1, 0)) + 1);
  return {
    text: isUtf8(page) ? page.toString() : null,
    cut: `the first ${page.length} bytes of the patch`,
  };
}
