import type { CommitId, LandingId } from '../../kernel/ids.ts';
import type { QueueState } from '../rules/decide/state.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { buildCandidate } from './build-candidate.ts';
import { Candidates } from './candidates.ts';
import { type FailedCheck, isGreen, requiredChecks } from './checks.ts';
import { Failures } from '../rules/failures.ts';
import { HeadFetches } from './heads/fetches.ts';
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
  /** Landings whose commit could not be had, and when the leader asks for it again. */
  readonly missing: Map<LandingId, { readonly failures: number; readonly againMs: number }>;
  /** Fetches of commits that other machines finished. */
  readonly heads: HeadFetches;
  /** The last push that the remote refused. */
  refusal: {
    readonly atMs: number;
    readonly reason: WaitReason;
    readonly landings: ReadonlySet<LandingId>;
  } | null;
}

/** `isPatient`: a person waits for these landings, also for a slow fetch. */
export function newQueueMemory(context: RunContext, { isPatient = false } = {}): QueueMemory {
  const { fetchFirstMs, fetchesAtOnce: most } = context.policy.travel;
  const patienceMs = isPatient ? context.policy.workspace.transferMostMs : fetchFirstMs;
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
    heads: new HeadFetches(context.git.work, context.clock, { patienceMs, most }),
    refusal: null,
  };
}

/** What was found out for an earlier tip of the target, unless a batch of the queue still needs it. */
export async function forgetSuperseded(
  { merging }: RunContext,
  { candidates, conflicts, failures }: QueueMemory,
  { tip, state }: { readonly tip: CommitId; readonly state: QueueState },
): Promise<void> {
  const stages = state.batches.map(({ stage }) => stage);
  await merging.drop(
    candidates.keepOnly([tip, ...stages.flatMap((stage) => ('onto' in stage ? [stage.onto] : []))]),
  );
  for (const key of conflicts.keys()) if (!key.startsWith(`${tip} `)) conflicts.delete(key);
  const runs = new Set([
    ...stages.flatMap((stage) => ('run' in stage ? [stage.run] : [])),
    ...state.probes.map(({ run }) => run),
    state.audit?.run,
  ]);
  for (const run of failures.keys()) if (!runs.has(run)) failures.delete(run);
}
