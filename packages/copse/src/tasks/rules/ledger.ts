/**
 * What a task leaves behind: ledger entries (learnings, decisions, handoffs, crashes) and artifacts (results with an
 * address). Both are only added, never changed.
 */

import { mustBeNew } from '../../kernel/evolution.ts';
import type {
  ArtifactId,
  LandingId,
  LedgerEntryId,
  NodeId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

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

/** Why an agent cannot add this text; undefined if it can. */
export function refuseLongEntry(text: string): string | undefined {
  const { textLength } = defaultPolicy.ledger;
  if (text.length <= textLength) return undefined;
  return `An entry of an agent may have at most ${textLength} characters; this one has ${text.length}. Add the whole text as a file, and a short entry that names it`;
}

/** Why an agent cannot add another entry; undefined if it can. People may always add one. */
export function refuseFullLedger(entries: readonly Pick<LedgerEntry, 'session'>[]): string | undefined {
  const { perTask } = defaultPolicy.ledger;
  if (entries.filter(({ session }) => session !== null).length < perTask) return undefined;
  return `The agents of a task may add at most ${perTask} entries to its ledger. Write the rest into a file and add that`;
}

type ArtifactKind = 'commit' | 'patch' | 'file' | 'uri';

/** A file that Copse keeps. */
interface ArtifactContent {
  /** What it was called; shown, and never used as a path. */
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** The machine that has it. */
  readonly node: NodeId;
}

export interface Artifact {
  readonly id: ArtifactId;
  readonly task: TaskId;
  readonly kind: ArtifactKind;
  /** A commit, the path of a patch, `sha256:<hash>` of a file, or the URI. */
  readonly address: string;
  readonly title: string | null;
  readonly at: Timestamp;
  /** Absent in records of an earlier Copse, and for commits and URIs. */
  readonly content?: ArtifactContent;
  /** Who added it with `artifact add` or a report; null for a person. Absent: Copse recorded it. */
  readonly session?: SessionId | null;
}

export interface ArtifactEvent extends Artifact {
  readonly type: 'artifact.added';
}

export function evolveArtifact(before: Artifact | undefined, event: ArtifactEvent): Artifact {
  mustBeNew(before, event);
  const { type: _, ...artifact } = event;
  return artifact;
}

/** Added by an agent or a person: a result of work without code, which another task may bring into the repository. */
export function isAddedResult({ kind, session }: Pick<Artifact, 'kind' | 'session'>): boolean {
  return kind === 'file' || (kind === 'uri' && session !== undefined);
}

export type CheckedText =
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string };

const SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/** `https://…`, `s3://…`, `mailto:…`. A file of such a name is given as `./name`. */
export function isUri(text: string): boolean {
  return SCHEME.test(text);
}

/** Copse never fetches it. A URI with a password is refused: the board is shown to every agent. */
export function checkUri(text: string): CheckedText {
  const longest = defaultPolicy.artifacts.uriLength;
  if (text.length > longest)
    return refusedText(`A URI may have at most ${longest} characters; this one has ${text.length}`);
  if (!text.isWellFormed() || /[\p{C}\p{Z}]/u.test(text))
    return refusedText(
      'A URI cannot contain spaces, line breaks, control or invisible characters: encode them',
    );
  if (!isUri(text) || !URL.canParse(text))
    return refusedText(`${JSON.stringify(text)} is not a URI such as https://example.com/report.pdf`);
  if (new URL(text).password !== '')
    return refusedText(
      'The URI contains a password, which everyone who reads the board would see: leave it out',
    );
  return { kind: 'accepted', text };
}

/** The name of a file, without its folders. */
export function checkFileName(text: string): CheckedText {
  const longest = defaultPolicy.artifacts.nameLength;
  if (text.length > longest)
    return refusedText(
      `The name of a file may have at most ${longest} characters; this one has ${text.length}`,
    );
  if (text === '' || text === '.' || text === '..' || /[/\\]/.test(text))
    return refusedText(`${JSON.stringify(text)} is not the name of a file`);
  if (/^\.git$/i.test(text))
    return refusedText('A file cannot be called .git: git would follow it. Rename it');
  if (!text.isWellFormed() || /\p{C}/u.test(text))
    return refusedText('The name of the file contains control or invisible characters: rename it');
  return { kind: 'accepted', text };
}

function refusedText(reason: string): CheckedText {
  return { kind: 'refused', reason };
}

/** Why no more can be added to the task; undefined if there is room. */
export function refuseTooMany(known: readonly Artifact[], bytes: number): string | undefined {
  const { perTask, taskBytes } = defaultPolicy.artifacts;
  const added = known.filter(isAddedResult);
  if (added.length >= perTask) return `A task can have at most ${perTask} artifacts`;
  const kept = new Map(added.flatMap(({ content }) => (content ? [[content.sha256, content.bytes]] : [])));
  const before = [...kept.values()].reduce((sum, one) => sum + one, 0);
  if (before + bytes <= taskBytes) return undefined;
  return `The files of a task may have ${taskBytes} bytes together; it has ${before}, and this one has ${bytes}. Put it elsewhere and add its URI`;
}
