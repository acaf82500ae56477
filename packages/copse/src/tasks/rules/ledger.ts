/**
 * What a task leaves behind: ledger entries (learnings, decisions, handoffs, crashes) and artifacts (results with an
 * address). Both are only added, never changed.
 */

import { mustBeNew } from '../../kernel/evolution.ts';
import type { ArtifactId, LandingId, LedgerEntryId, SessionId, TaskId, Timestamp } from '../../kernel/ids.ts';

export const ledgerKinds = ['learning', 'decision', 'handoff', 'crash'] as const;
type LedgerKind = (typeof ledgerKinds)[number];

export interface LedgerEntry {
  readonly id: LedgerEntryId;
  readonly task: TaskId;
  /** Null when a person wrote it. */
  readonly session: SessionId | null;
  readonly kind: LedgerKind;
  readonly text: string;
  readonly at: Timestamp;
  /** Another task undoes this landing. */
  readonly undone?: { readonly landing: LandingId; readonly by: TaskId };
}

export interface LedgerEvent extends LedgerEntry {
  readonly type: 'ledger.added';
}

export function evolveLedger(before: LedgerEntry | undefined, event: LedgerEvent): LedgerEntry {
  mustBeNew(before, event);
  const { type: _, ...entry } = event;
  return entry;
}

type ArtifactKind = 'commit' | 'patch' | 'file' | 'uri';

export interface Artifact {
  readonly id: ArtifactId;
  readonly task: TaskId;
  readonly kind: ArtifactKind;
  readonly address: string;
  readonly title: string | null;
  readonly at: Timestamp;
}

export interface ArtifactEvent extends Artifact {
  readonly type: 'artifact.added';
}

export function evolveArtifact(before: Artifact | undefined, event: ArtifactEvent): Artifact {
  mustBeNew(before, event);
  const { type: _, ...artifact } = event;
  return artifact;
}
