/**
 * Git follows links below `refs` and `logs`: if a reflog or a folder above it is a link, git writes to the link's target.
 * Agents can make such links, so Copse writes no ref behind one.
 */

import { lstatSync } from 'node:fs';
import path from 'node:path';

import { RepositoryUnavailable } from '../unavailable.ts';
import { shellWord } from '../../kernel/shell.ts';

/** For command lines that name the refs they write. */
export function refuseLinkedRefs(commonDir: string, argv: readonly string[]): void {
  const isUpdate = argv.includes('update-ref');
  if (!isUpdate && !argv.includes('fetch')) return;
  const isDeletion = isUpdate && argv.includes('-d');
  for (const word of argv) {
    const ref = isUpdate ? word : word.slice(word.indexOf(':') + 1);
    if (ref.startsWith('refs/')) refuseLinkedRef(commonDir, ref, { isDeletion });
  }
}

/** A deletion removes the reflog itself, link or not, and never the link's target. */
export function refuseLinkedRef(
  commonDir: string,
  ref: string,
  { isDeletion }: { readonly isDeletion: boolean },
): void {
  const parents = path.posix.dirname(ref);
  // `refs` itself may be a link. The ref's own file is replaced by a rename, so a link there does no harm.
  const link =
    linkOn(path.join(commonDir, 'refs'), parents.split('/').slice(1)) ??
    linkOn(commonDir, ['logs', ...(isDeletion ? parents : ref).split('/')]);
  if (link === undefined) return;
  throw new RepositoryUnavailable(
    `${link} is a link: git would write ${ref} to its target, so Copse does not write it.`,
    `rm ${shellWord(link)} # to remove the link; if you did not make it, an agent did`,
  );
}

function linkOn(folder: string, names: readonly string[]): string | undefined {
  let place = folder;
  for (const name of names) {
    place = path.join(place, name);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return place;
    if (!found?.isDirectory()) return undefined;
  }
  return undefined;
}
