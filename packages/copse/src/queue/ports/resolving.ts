/** Conflicts that need nobody: by commands that copse.yml names, or as the same conflict was resolved before. */

import type { CommitId } from '../../kernel/ids.ts';
import type { CommitSummary, ConflictedMerge, Resolution } from './merging.ts';

/** What is merged: `head` into `onto`. */
export type Ends = Pick<ConflictedMerge, 'onto' | 'head'>;

/** A branch that the target has now, the target before, and where the branch began if that is known. */
export interface LandedBranch extends Ends {
  readonly base?: CommitId | null;
}

export interface Resolving {
  /** Undefined unless every file could be resolved. */
  resolve(conflict: ConflictedMerge): Promise<Resolution | undefined>;
  /** Whether there is a way for each file in conflict. That each leads somewhere is seen when it is tried. */
  mayResolve(conflict: Ends): Promise<boolean>;
  /** What was tried in vain for a conflict, a few sentences with the end of what commands printed. */
  tried(conflict: Ends): readonly string[];
  /** Commits of the target, not of the branch, that changed one of these files: the other side, newest first. */
  otherSide(conflict: Ends, files: readonly string[], limit: number): Promise<readonly CommitSummary[]>;
  /**
   * Remembers how merges of a branch resolved their conflicts. Only for branches that landed: what was refused is no
   * example. The paths it learned from, for people.
   */
  learn(landed: LandedBranch): Promise<readonly string[]>;
}
