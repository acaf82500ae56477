/**
 * What a landing is built on. The target here and what is known of it on the remote are two refs that both move; whichever
 * contains the other is the newer one. Where neither does, nobody here can decide which of them is right.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import type { RunContext } from '../context.ts';

export type LandingBase =
  | {
      readonly kind: 'found';
      /** Where the target is here. */
      readonly local: CommitId;
      /** What the candidate is built on: that, or what the remote has on top of it. */
      readonly onto: CommitId;
      /** Where the remote's is, as far as is known. */
      readonly remote: CommitId | undefined;
    }
  | { readonly kind: 'unknown'; readonly reason: WaitReason };

export async function findLandingBase(
  context: RunContext,
  { target, head }: Pick<Landing, 'target' | 'head'>,
  { isFetched = false }: { readonly isFetched?: boolean } = {},
): Promise<LandingBase> {
  const { git } = context;
  const name = await git.remoteName();
  if (context.landing.push && name !== undefined && !isFetched) {
    const fetched = await git.fetch([target]);
    if (!fetched.fetched && fetched.because !== 'no_remote')
      return { kind: 'unknown', reason: { kind: 'remote_unreachable', detail: fetched.reason } };
  }
  const remote = name === undefined ? undefined : await git.tip(`refs/remotes/${name}/${target}`);
  const local = (await git.tip(`refs/heads/${target}`)) ?? (await makeTarget(context, target, remote));
  if (local === undefined) return { kind: 'unknown', reason: { kind: 'target_missing', target } };
  if (remote === undefined || (await git.isAncestor(remote, local)))
    return { kind: 'found', local, onto: local, remote };
  if (await git.isAncestor(local, remote)) return { kind: 'found', local, onto: remote, remote };
  // Its own commits must not be mixed up with the remote's, which would then be written anew.
  const begun = await git.mergeBase(head, remote);
  const isApart = begun !== undefined && (await git.isAncestor(begun, local));
  if (isApart && !context.landing.push) return { kind: 'found', local, onto: local, remote };
  return { kind: 'unknown', reason: { kind: 'target_diverged', target, remote: name ?? '' } };
}

/** The branch is only on the remote so far. */
async function makeTarget(
  { git }: RunContext,
  target: BranchName,
  remote: CommitId | undefined,
): Promise<CommitId | undefined> {
  if (remote === undefined) return undefined;
  const moved = await git.moveRef(`refs/heads/${target}`, null, remote, 'copse: the target of landings');
  return moved.moved ? remote : (moved.tip ?? undefined);
}
