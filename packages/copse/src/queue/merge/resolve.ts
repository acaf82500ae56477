/** Asks whoever knows how to resolve a conflict, and holds them to the files that were in conflict. */

import type { CandidateRequest, ConflictedMerge, Resolution } from '../ports/merging.ts';
import type { Merged } from '../../git/long-lived.ts';
import type { Standing } from './bench.ts';
import { latin1, utf8 } from '../../git/output.ts';

export type Resolve = (conflict: ConflictedMerge) => Promise<Resolution | undefined>;

export interface Resolved {
  /** Without conflicts. */
  readonly tree: string;
  readonly note: string;
  /** What git made of it, and the paths that may be otherwise, with one character per byte. */
  readonly merged: string;
  readonly paths: ReadonlySet<string>;
}

export async function resolveMerge(
  { quarantine }: Standing,
  { onto, head }: CandidateRequest,
  merged: Merged,
  resolve: Resolve | undefined,
): Promise<Resolved | undefined> {
  if (merged.clean || resolve === undefined) return undefined;
  const { tree, files } = merged;
  // Whoever resolves it asks the repository, too.
  await quarantine.bring(onto);
  quarantine.flush();
  const resolution = await resolve({ onto, head, tree, files: files.map(utf8), env: quarantine.env });
  if (resolution === undefined) return undefined;
  const paths = new Set([...files, ...resolution.files.map(latin1)]);
  return { tree: resolution.tree, note: resolution.note, merged: tree, paths };
}
