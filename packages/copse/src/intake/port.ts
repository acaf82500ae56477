/** What Copse needs from a source of work items. Nothing of it rejects: what fails is an outcome. */

import type { BranchName, CommitId, Timestamp } from '../kernel/ids.ts';
import type { Item } from './rules/item.ts';
import type { SeenItem, SourceSettings } from './rules/source.ts';
import type { ReportLabel } from './rules/report.ts';

export interface SourceProblem {
  readonly kind: 'failed';
  readonly reason: string;
  /** A rate limit ends then; null: try again after a backoff. */
  readonly until: Timestamp | null;
}

export interface SourceRead {
  readonly kind: 'read';
  readonly items: readonly SeenItem[];
  /** Ids of known items that could not be read: nothing is concluded from that. */
  readonly unread?: readonly string[];
  /** For people: what could not be read, and where it was read. */
  readonly notes: readonly string[];
}

/** Who asked for an item; null: the source cannot tell. `at`: when. */
export interface LetIn {
  readonly kind: 'known';
  readonly by: string | null;
  readonly at?: Timestamp | null;
}

/** An item of the board, as a source gets it. */
export interface KnownItem extends Item {
  /** Its task is pending or ready, so it may get another text. */
  readonly isWaiting: boolean;
}

export interface ReportOrder {
  readonly item: Item;
  /** The whole comment, with its marker; null: comments are off. */
  readonly text: string | null;
  readonly marker: string;
  /** Null: none of Copse's labels; undefined: labels are off. */
  readonly label: ReportLabel | null | undefined;
  /** Asked before every write. False: another machine holds the source now. */
  readonly isOurs: () => Promise<boolean>;
}

export type ReportDone =
  | { readonly kind: 'reported'; readonly comment: string | null }
  /** It would be refused again: the item is locked or gone. */
  | { readonly kind: 'refused'; readonly reason: string };

export interface Source extends SourceSettings {
  /** Open items, and the present state of known ones that are not among them. */
  read(known: readonly KnownItem[]): Promise<SourceRead | SourceProblem>;
  /** One item, also without the label. Undefined: the source has none with this id. */
  readOne(
    id: string,
  ): Promise<{ readonly kind: 'read'; readonly item: SeenItem | undefined } | SourceProblem>;
  /** Asked once, before an item becomes a task. */
  letIn(item: SeenItem): Promise<LetIn | SourceProblem>;
  /** Absent: nothing can be told to the source. */
  report?(order: ReportOrder): Promise<ReportDone | SourceProblem>;
  /** For lists in the repository: a commit in which these items are ticked. */
  tick?(order: TickOrder): Promise<Ticked>;
}

export interface TickOrder {
  readonly items: readonly Item[];
  /** All known items of the source: lines are told apart by them. */
  readonly known: readonly Item[];
  readonly message: string;
}

export type Ticked =
  | {
      readonly kind: 'ticked';
      readonly commit: CommitId;
      readonly onto: CommitId;
      readonly target: BranchName;
    }
  /** All of them are ticked, or gone. */
  | { readonly kind: 'unchanged' }
  | SourceProblem;

/** What this machine remembers of a source between two looks; losing it costs requests only. */
export interface SourceMemory {
  readonly syncedAt: Timestamp | null;
  /** Of the last look or report; null: it went well. */
  readonly problem: string | null;
  readonly limit: RateLimit | null;
}

interface RateLimit {
  readonly remaining: number | null;
  /** No request is sent before; null: requests are allowed. */
  readonly until: Timestamp | null;
}

export interface SourceMemories {
  load(source: string): SourceMemory;
  save(source: string, change: Partial<SourceMemory>): void;
  /** When this clone last wrote to any source; null: unknown. */
  wroteAt(): Timestamp | null;
  wrote(at: Timestamp): void;
}
