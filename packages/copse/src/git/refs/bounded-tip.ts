/** Whether a branch is small enough to be read: asked once for each tree, before a git lists its paths. */

import { defaultPolicy } from '../../kernel/policy.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import type { CommitId } from '../../kernel/ids.ts';
import { isBeyondLimits } from '../../kernel/unavailable.ts';
import { knownObjectsOf, requireBounded } from '../objects.ts';
import type { TrustedDir } from '../process.ts';
import { baseByFiles } from './base-by-files.ts';
import { headOf } from './head.ts';
import { detectBase, findTip, mergeBase } from './refs.ts';

const MOST_KNOWN = defaultPolicy.objectMemory.boundedTips;
const known = new WeakMap<TrustedDir, RecentCache<string, true>>();

/** Throws `BeyondLimits` when the commit changes more paths, since it left the base, than the policy allows. */
export async function requireBoundedTip(dir: TrustedDir, tip: CommitId, what: string): Promise<void> {
  const objects = knownObjectsOf(dir);
  const { tree } = await objects.commit(tip);
  const bounded = known.get(dir) ?? new RecentCache<string, true>(MOST_KNOWN);
  known.set(dir, bounded);
  const base = bounded.get(tree) === undefined ? await baseTip(dir) : undefined;
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

/** From the files, and else from git: an agent can touch the files, and must not avoid the question by that. */
async function baseTip(dir: TrustedDir): Promise<CommitId | undefined> {
  const { remote } = dir.remembered;
  const find = (ref: string) => findTip(dir, ref);
  const base =
    baseByFiles(dir) ?? (await detectBase(dir, remote ?? undefined, headOf(dir.commonDir).branch, find));
  if (base === undefined) return undefined;
  return (await find(`refs/heads/${base}`)) ?? find(`refs/remotes/${remote}/${base}`);
}
