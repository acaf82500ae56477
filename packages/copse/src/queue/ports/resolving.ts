/** Resolves conflicts without an agent: by commands of copse.yml, or as the same conflict was resolved before. */

import type { CommitId } from '../../kernel/ids.ts';
import type { CommitSummary, ConflictedMerge, Resolution } from './merging.ts';

/** `head` is merged into `onto`. */
export type Ends = Pick<ConflictedMerge, 'onto' | 'head'>;

/** A branch that landed: the target before, and where the branch began, if that is known. */
export interface LandedBranch extends Ends {
  readonly base?: CommitId | null;
}

export interface Resolving {
  /** Undefined unless every file could be resolved. */
  resolve(conflict: ConflictedMerge): Promise<Resolution | undefined>;
  /** Whether each file in conflict has a way to try. */
  mayResolve(conflict: Ends): Promise<boolean>;
  /** Failed attempts to resolve a conflict: sentences with the end of the output. */
  tried(conflict: Ends): readonly string[];
  /** The other side: commits of the target, not of the branch, that changed one of these files; newest first. */
  otherSide(conflict: Ends, files: readonly string[], limit: number): Promise<readonly CommitSummary[]>;
  /**
   * Remembers how merges of a landed branch resolved their conflicts; rejected branches are no example. The paths it
   * learned from, for people.
   */
  learn(landed: LandedBranch): Promise<readonly string[]>;
}
