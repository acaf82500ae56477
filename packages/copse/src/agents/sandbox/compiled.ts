/**
 * Keeps a sandbox from Copse's cache of compiled code (kernel/system/compile-cache.ts): Node runs what is in it, outside of
 * every sandbox. A folder that a person opened may contain it.
 */

import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { isWithin } from '../../kernel/system/within.ts';
import { NotConfined } from '../../processes/ports/programs.ts';

/** The paths of the cache inside of what is open for writing. Throws when it cannot be kept read-only there. */
export function keepCompiled(compiled: string | undefined, write: readonly string[]): readonly string[] {
  if (compiled === undefined) return [];
  // Its own name is not followed: it is what agents must not write.
  const place = path.join(realOf(path.dirname(compiled)), path.basename(compiled));
  return write.flatMap((open) => {
    const opened = realOf(open);
    if (isWithin(place, opened))
      throw new NotConfined(
        `${open} is in Copse's cache of compiled code, which agents must not write: remove it from \`sandbox_write\`.`,
      );
    if (!isWithin(opened, place)) return [];
    requireFolder(compiled, open);
    return [path.join(open, path.relative(opened, place))];
  });
}

/** Inside, a missing folder could be made, and a link be replaced. */
function requireFolder(compiled: string, open: string): void {
  if (lstatSync(compiled, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new NotConfined(
    `${compiled}, Copse's cache of compiled code, is not a folder, and agents could write it: make it one, or remove ${open} from \`sandbox_write\`.`,
  );
}

function realOf(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    const above = path.dirname(place);
    return above === place ? place : path.join(realOf(above), path.basename(place));
  }
}
