import type { CommitId, LandingId } from '../../kernel/ids.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { buildCandidate } from './build-candidate.ts';
import { Candidates } from './candidates.ts';
import { type FailedCheck, isGreen, requiredChecks } from './checks.ts';
import { Failures } from '../rules/failures.ts';
import type { RunContext } from '../context.ts';

/** What a process remembers between two times of leading a queue; losing it only costs time. */
export interface QueueMemory {
  readonly candidates: Candidates;
  /** Files in which a head conflicts with a tip, by `tip head`. */
  readonly conflicts: Map<string, readonly string[]>;
  readonly failures: Map<number, FailedCheck>;
  /** What git fsck says against a head. */
  unsound: ReadonlyMap<CommitId, string>;
  readonly unexpected: Failures;
  /** Landings whose commit could not be had, and when it is tried again. */
  readonly missing: Map<LandingId, { readonly failures: number; readonly againMs: number }>;
  /** The last push that the remote refused. */
  refusal: {
    readonly atMs: number;
    readonly reason: WaitReason;
    readonly landings: ReadonlySet<LandingId>;
  } | null;
}

export function newQueueMemory(context: RunContext): QueueMemory {
  const required = requiredChecks(context);
  return {
    candidates: new Candidates({
      build: (onto, queued) => buildCandidate(context, onto, queued),
      treeOf: (commit) => context.merging.treeOf(commit),
      isGreen: (tree) => isGreen(context, required, tree),
    }),
    conflicts: new Map(),
    failures: new Map(),
    unsound: new Map(),
    unexpected: new Failures(),
    missing: new Map(),
    refusal: null,
  };
}
