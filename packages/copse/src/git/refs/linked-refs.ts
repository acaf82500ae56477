/**
 * Git follows links below `refs` and `logs`: a reflog that is one, or a folder on the way to it, makes git write wherever
 * the link leads. Agents can make such links, so nothing is written to a ref behind one.
 */

import { lstatSync } from 'node:fs';
import path from 'node:path';

import { RepositoryUnavailable } from '../unavailable.ts';

/** For every command line that writes refs which it names. */
export function refuseLinkedRefs(commonDir: string, argv: readonly string[]): void {
  const isUpdate = argv.includes('update-ref');
  if (!isUpdate && !argv.includes('fetch')) return;
  const isDeletion = isUpdate && argv.includes('-d');
  for (const word of argv) {
    const ref = isUpdate ? word : word.slice(word.indexOf(':') + 1);
    if (ref.startsWith('refs/')) refuseLinkedRef(commonDir, ref, { isDeletion });
  }
}

/** Deleting takes the reflog itself away, be it a link or not, but never what is at the other end. */
export function refuseLinkedRef(
  commonDir: string,
  ref: string,
  { isDeletion }: { readonly isDeletion: boolean },
): void {
  const parents = path.posix.dirname(ref);
  // `refs` itself is where the repository has it. The ref at the end is replaced, not written to.
  const link =
    linkOn(path.join(commonDir, 'refs'), parents.split('/').slice(1)) ??
    linkOn(commonDir, ['logs', ...(isDeletion ? parents : ref).split('/')]);
  if (link === undefined) return;
  throw new RepositoryUnavailable(
    `${link} is a link, so git would write ${ref} somewhere else. Copse does not.`,
    `If you did not make it, an agent did; take it away: rm '${link}'`,
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
