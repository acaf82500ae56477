/** How the board names a target branch of another repository: `<main checkout>:<branch>`. No branch name has a colon. */

import { type BranchName, brand } from '../../kernel/ids.ts';

export function targetIn(root: string, branch: BranchName): BranchName {
  return brand(`${root}:${branch}`);
}

export interface NamedTarget {
  /** Null: the board's own repository. */
  readonly root: string | null;
  readonly branch: BranchName;
}

export function splitTarget(target: BranchName): NamedTarget {
  const colon = target.lastIndexOf(':');
  if (colon === -1) return { root: null, branch: target };
  return { root: target.slice(0, colon), branch: brand(target.slice(colon + 1)) };
}
