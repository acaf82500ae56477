/**
 * Makes the merges of a repository again, each with the engine of the queue and with plain git, and compares.
 *
 * Landed as a merge, the tree must be git's. Squashed, it must be the same. Rebased, it must be the same wherever the merge
 * has no conflict; where it has one and a rebase has none, it must be what `git rebase` makes.
 */

import { findRepository } from '../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../packages/copse/src/git/directory/trusted-dir.ts';
import { brand, timestamp } from '../../packages/copse/src/kernel/ids.ts';
import type { Merging } from '../../packages/copse/src/queue/ports/merging.ts';
import type { MergeMethod } from '../../packages/copse/src/queue/rules/landing.ts';
import { type Judgement, type Ours, type Plain, isFailure, judge } from './judge.ts';
import { type Merge, PlainGit } from './plain-git.ts';

export interface ReplayOptions {
  /** An empty folder. */
  readonly area: string;
  readonly from?: string;
  readonly max?: number;
  readonly isFirstParent?: boolean;
  readonly onMerge?: (done: number, of: number) => void;
}

export interface Replay {
  readonly merges: number;
  /** By merge, newest first. */
  readonly judgements: ReadonlyMap<string, Judgement>;
  /** Landed by a rebase although the merge has a conflict, as git does. */
  readonly rebasedAlone: number;
  readonly failures: readonly string[];
  /** Git itself could not: objects are missing. */
  readonly notCompared: readonly string[];
  readonly engineMs: number;
}

export async function replay(repository: string, options: ReplayOptions): Promise<Replay> {
  const { area, from = 'HEAD', max = 1_000, isFirstParent = false, onMerge } = options;
  const plainGit = PlainGit.clone(repository, area);
  const merges = plainGit.merges(from, { max, isFirstParent });
  const merging = openMerging(openTrustedDir(findRepository(plainGit.folder)!));
  const judgements = new Map<string, Judgement>();
  const [failures, notCompared]: [string[], string[]] = [[], []];
  let [rebasedAlone, engineMs] = [0, 0];
  try {
    for (const [at, merge] of merges.entries()) {
      onMerge?.(at, merges.length);
      const plain = tryPlainly(plainGit, merge);
      if (plain instanceof Error) {
        notCompared.push(`${merge.commit}: ${plain.message.trim()}`);
        continue;
      }
      const one = await replayOne(plainGit, merging, merge, plain);
      judgements.set(merge.commit, one.judgement);
      engineMs += one.engineMs;
      if (one.isRebasedAlone) rebasedAlone += 1;
      failures.push(...one.failures.map((failure) => `${merge.commit}: ${failure}`));
    }
  } finally {
    await merging.close();
  }
  return { merges: merges.length, judgements, rebasedAlone, failures, notCompared, engineMs };
}

function tryPlainly(plainGit: PlainGit, { onto, head }: Merge): Plain | Error {
  try {
    return plainGit.merge(onto, head);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

interface One {
  readonly judgement: Judgement;
  readonly isRebasedAlone: boolean;
  readonly failures: readonly string[];
  readonly engineMs: number;
}

async function replayOne(plainGit: PlainGit, merging: Merging, merge: Merge, plain: Plain): Promise<One> {
  const { commit, onto, head } = merge;
  const beganMs = performance.now();
  const ours = await land(merging, merge, 'merge');
  const engineMs = performance.now() - beganMs;
  const isBranchEvil = ours.is === 'reverts' && plainGit.hasEvilMerge(onto, head);
  const judgement = judge({ real: plainGit.treeOf(commit), plain, ours, isBranchEvil });
  const failures = isFailure(judgement) ? [`${judgement}, ${text(ours)}; git: ${text(plain)}`] : [];
  const squashed = await land(merging, merge, 'squash');
  if (text(squashed) !== text(ours)) failures.push(`squashed: ${text(squashed)}; merged: ${text(ours)}`);
  const rebased = await land(merging, merge, 'rebase');
  const isRebasedAlone = ours.is === 'conflict' && rebased.is === 'merged';
  const expected = isRebasedAlone
    ? text({ is: 'merged', tree: plainGit.rebase(onto, head) ?? 'none' })
    : text(ours);
  if (text(rebased) !== expected) failures.push(`rebased: ${text(rebased)}; expected: ${expected}`);
  return { judgement, isRebasedAlone, failures, engineMs };
}

async function land(merging: Merging, { onto, head }: Merge, method: MergeMethod): Promise<Ours> {
  const built = await merging.build({
    task: brand('cp-replay'),
    title: 'Made again',
    plan: null,
    branch: brand('replayed'),
    target: brand('main'),
    onto: brand(onto),
    head: brand(head),
    method,
    at: timestamp(1_700_000_000_000),
  });
  return built.kind === 'built' ? { is: 'merged', tree: built.tree } : { is: built.kind };
}

function text(result: Ours | Plain): string {
  return result.is === 'merged' ? `merged ${result.tree}` : result.is;
}
