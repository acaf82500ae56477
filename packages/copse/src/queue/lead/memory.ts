import type { LandingId } from '../../kernel/ids.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { buildCandidate } from './build-candidate.ts';
import { Candidates } from './candidates.ts';
import { type FailedCheck, isGreen, requiredChecks } from './checks.ts';
import type { RunContext } from '../context.ts';

/** What a process remembers between two times of leading a queue; losing it only costs time. */
export interface QueueMemory {
  readonly candidates: Candidates;
  /** Files in which a head conflicts with a tip, by `tip head`. */
  readonly conflicts: Map<string, readonly string[]>;
  readonly failures: Map<number, FailedCheck>;
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
    refusal: null,
  };
}
