/**
 * The commit that landings are built on. The local target and its remote-tracking ref both move; the one that contains the
 * other is newer. If they have diverged, a person must bring them together.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { type Lead, whileRenewing } from './leadership.ts';
import type { RunContext } from '../context.ts';

export type LandingBase =
  | {
      readonly kind: 'found';
      /** The tip of the local target. */
      readonly local: CommitId;
      /** Candidates are built on this: the local tip, or the remote's tip if that is newer. */
      readonly onto: CommitId;
      /** The remote's tip as of the last fetch. */
      readonly remote: CommitId | undefined;
    }
  | { readonly kind: 'unknown'; readonly reason: WaitReason };

/** The base of one leader, who asks the remote only now and then. */
export class LandingBases {
  readonly #context: RunContext;
  readonly #lead: Lead;
  /** When the remote was last asked. */
  #fetchedMs = -Infinity;

  constructor(context: RunContext, lead: Lead) {
    this.#context = context;
    this.#lead = lead;
  }

  async find(first: Landing, { isAboutToLand = false } = {}): Promise<LandingBase> {
    const nowMs = this.#context.clock.elapsedMs();
    const isFetched = !isAboutToLand && nowMs - this.#fetchedMs < this.#context.policy.landing.fetchEveryMs;
    const find = () => findLandingBase(this.#context, first, { isFetched });
    const base = isFetched ? await find() : await whileRenewing(this.#context, this.#lead, find);
    if (base.kind === 'found' && !isFetched) this.#fetchedMs = nowMs;
    return base;
  }

  /** Too old to land on without asking the remote again. */
  get isOld(): boolean {
    const { clock, policy } = this.#context;
    return clock.elapsedMs() - this.#fetchedMs > policy.landing.freshMs;
  }
}

async function findLandingBase(
  context: RunContext,
  { target, head }: Pick<Landing, 'target' | 'head'>,
  { isFetched = false }: { readonly isFetched?: boolean } = {},
): Promise<LandingBase> {
  const { git } = context;
  const name = await git.remoteName();
  if (context.landing.push && name !== undefined && !isFetched) {
    const fetched = await git.fetch([target]);
    if (fetched.kind === 'failed' && fetched.because !== 'no_remote')
      return { kind: 'unknown', reason: { kind: 'remote_unreachable', detail: fetched.reason } };
  }
  const remote = name === undefined ? undefined : await git.tip(`refs/remotes/${name}/${target}`);
  const local = (await git.tip(`refs/heads/${target}`)) ?? (await makeTarget(context, target, remote));
  if (local === undefined) return { kind: 'unknown', reason: { kind: 'target_missing', target } };
  if (remote === undefined || (await git.isAncestor(remote, local)))
    return { kind: 'found', local, onto: local, remote };
  if (await git.isAncestor(local, remote)) return { kind: 'found', local, onto: remote, remote };
  // Without pushing, local landings go on, unless the branch began from commits that only the remote has.
  const begun = await git.mergeBase(head, remote);
  const isApart = begun !== undefined && (await git.isAncestor(begun, local));
  if (isApart && !context.landing.push) return { kind: 'found', local, onto: local, remote };
  return { kind: 'unknown', reason: { kind: 'target_diverged', target, remote: name ?? '' } };
}

/** Creates the local target from the remote's. */
async function makeTarget(
  { git }: RunContext,
  target: BranchName,
  remote: CommitId | undefined,
): Promise<CommitId | undefined> {
  if (remote === undefined) return undefined;
  const moved = await git.moveRef(`refs/heads/${target}`, null, remote, 'copse: the target of landings');
  return moved.kind === 'moved' ? remote : (moved.tip ?? undefined);
}
