/**
 * A check: one command run on one exact tree for the merge queue. Its verdict belongs to (tree, command, environment),
 * so it is a cache hit whenever the same tree comes up again.
 */

import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import type { BranchName, CheckId, NodeId, Timestamp } from '../../kernel/ids.ts';

export type Verdict = 'green' | 'red' | 'timeout' | 'infrastructure' | 'abandoned';

export interface Check {
  readonly id: CheckId;
  readonly target: BranchName;
  readonly tree: string;
  readonly command: string;
  /** Digest of everything else that could change the verdict. */
  readonly environment: string;
  readonly node: NodeId;
  readonly startedAt: Timestamp;
  readonly end: {
    readonly at: Timestamp;
    readonly verdict: Verdict;
    readonly exitCode: number | null;
    readonly log: string | null;
  } | null;
}

type Of<T extends string> = EventHead<T, CheckId>;

export type CheckEvent =
  | (Of<'check.started'> & Pick<Check, 'target' | 'tree' | 'command' | 'environment' | 'node'>)
  | (Of<'check.ended'> & {
      readonly verdict: Verdict;
      readonly exitCode: number | null;
      readonly log: string | null;
    });

export function evolveCheck(check: Check | undefined, event: CheckEvent): Check {
  if (event.type === 'check.started') {
    mustBeNew(check, event);
    const { id, target, tree, command, environment, node, at } = event;
    return { id, target, tree, command, environment, node, startedAt: at, end: null };
  }
  const { at, verdict, exitCode, log } = event;
  return { ...existing(check, event), end: { at, verdict, exitCode, log } };
}

/** Verdicts with the same key and tree are interchangeable. */
export function checkKey({
  command,
  environment,
}: {
  readonly command: string;
  readonly environment: string;
}): string {
  return `${environment} ${command}`;
}
