/** Whether a branch is small enough to be read: asked once for each tree, before a git lists its paths. */

import { RecentCache } from '../../kernel/recent-cache.ts';
import { type CommitId } from '../../kernel/ids.ts';
import { isBeyondLimits } from '../../kernel/unavailable.ts';
import { knownObjectsOf, requireBounded } from '../objects.ts';
import type { TrustedDir } from '../process.ts';
import { baseByFiles } from './base-by-files.ts';
import { openTips } from './branch-tip.ts';
import { mergeBase } from './refs.ts';

const MOST_KNOWN = 1_000;
const known = new WeakMap<TrustedDir, RecentCache<string, true>>();

/** Throws `BeyondLimits` when the commit changes more paths, since it left the base, than the policy allows. */
export async function requireBoundedTip(dir: TrustedDir, tip: CommitId, what: string): Promise<void> {
  const objects = knownObjectsOf(dir);
  const { tree } = await objects.commit(tip);
  const bounded = known.get(dir) ?? new RecentCache<string, true>(MOST_KNOWN);
  known.set(dir, bounded);
  const base = bounded.get(tree) === undefined ? baseTip(dir) : undefined;
  if (base === undefined) return;
  try {
    await requireBounded(objects, (await objects.commit(base)).tree, tree, what);
  } catch (error) {
    // The base may have changed many paths since.
    const common = isBeyondLimits(error) ? await mergeBase(dir, tip, base) : undefined;
    if (common === undefined || common === base) throw error;
    await requireBounded(objects, (await objects.commit(common)).tree, tree, what);
  }
  bounded.set(tree, true);
}

function baseTip(dir: TrustedDir): CommitId | undefined {
  const base = baseByFiles(dir);
  if (base === null) return undefined;
  const tipOf = openTips(dir.commonDir);
  return tipOf(`refs/heads/${base}`) ?? tipOf(`refs/remotes/${dir.remembered.remote}/${base}`) ?? undefined;
}
